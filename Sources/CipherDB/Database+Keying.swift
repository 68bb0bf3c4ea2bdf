package import CipherKeys
internal import CipherPages

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A key that was verified, and the format it was verified for: what later connections to the same file are opened with.
package struct Unlocked: Sendable {
    package let key: DerivedKey
    package let format: CipherFormat

    package init(key: DerivedKey, format: CipherFormat) {
        self.key = key
        self.format = format
    }

    /// `key` for a file that is made now: with a salt that no file has yet, unless the key brings one.
    package init(newFileUnder key: DatabaseKey, format: CipherFormat) throws {
        let salt = try key.salt ?? SecretBytes.random(count: CipherFormat.saltSize).withUnsafeBytes { Array($0) }
        try self.init(writing: key, salt: salt, format: format)
    }

    /// `key` for pages that are written now.
    ///
    /// - Throws: ``UnusableCipherFormat/rawKeyWithoutAuthentication``: what is written could not be opened again.
    init(writing key: DatabaseKey, salt: [UInt8], format: CipherFormat) throws {
        guard key.isPassphrase || format.pageAuthentication != nil else {
            throw UnusableCipherFormat.rawKeyWithoutAuthentication
        }
        self.init(key: try key.derive(salt: salt, format: format), format: format)
    }

    /// Whether `key` is that of this file. A passphrase is derived for it.
    package func isOpened(by key: DatabaseKey) throws -> Bool {
        try key.derive(salt: self.key.salt, format: format) == self.key
    }
}

/// What a connection is keyed with.
package enum Credential {
    case key(DatabaseKey)
    /// Derived and verified by an earlier connection to this file.
    case unlocked(Unlocked)
    /// Derived for a file that is made now.
    case new(Unlocked)

    fileprivate var format: CipherFormat? {
        if case .new(let made) = self { made.format } else { nil }
    }

    /// What a new file gets.
    fileprivate func unlockingNew(_ format: CipherFormat) throws -> Unlocked {
        switch self {
        case .unlocked: throw KeyError.notADatabase
        case .new(let made): return made
        case .key(let key): return try Unlocked(newFileUnder: key, format: format)
        }
    }
}

// The one place where a key is handed to the engine: `handOver`.
extension Database {
    /// Sets the key of a database that was opened and not used yet, and verifies it by a test SELECT.
    ///
    /// A new file is written to, so that the key is in force from here on. A connection is keyed once: after a failure it
    /// is closed, the file is as it was, and an empty file that this opening made is removed again.
    ///
    /// - Throws: ``KeyError`` saying what is the matter with the key or the file; ``DatabaseError``.
    public func setKey(_ key: DatabaseKey) throws {
        try unlock(.key(key))
    }

    /// Sets the key from text, as SQLCipher's `PRAGMA key` reads it: a passphrase, or a raw key written `x'…'`.
    ///
    /// - Throws: ``MalformedKey`` for an empty passphrase or a malformed raw key; else as ``setKey(_:)-(DatabaseKey)``.
    public func setKey(_ key: String) throws {
        try setKey(.engineBytes(SecretBytes(utf8: key)))
    }

    /// Sets the key from bytes, as SQLCipher's `sqlite3_key` reads them: a passphrase of any bytes, or a raw key
    /// written `x'…'`. Thirty-two bytes are a passphrase too; a raw key is `DatabaseKey.raw`.
    ///
    /// - Throws: ``MalformedKey`` for no bytes or a malformed raw key; else as ``setKey(_:)-(DatabaseKey)``.
    public func setKeyWithData(_ key: Data) throws {
        try setKey(.engineBytes(key.withUnsafeBytes { try SecretBytes(copying: $0) }))
    }

    package func unlock(_ credential: Credential) throws {
        guard case .opened(let connection, let kind, _) = state else {
            throw DatabaseError(.misuse, keyingMisuse)
        }
        do {
            let unlocked =
                try kind == .empty && mayBeMade(connection)
                ? try encryptNew(connection, credential) : try verify(connection, credential)
            state = .keyed(connection, unlocked)
        } catch {
            close()
            throw error
        }
        try finishOpening()
    }

    /// Whether a file without bytes may become a database: not beside a log or journal, which say that it was one, or that
    /// another connection is making it at this moment; that is waited for, half a second at most.
    private func mayBeMade(_ connection: Connection) throws -> Bool {
        guard flags.contains(.create) else { return false }
        let file = try EngineFile(connection)
        for _ in 0..<min(100, busyMilliseconds / 5 + 1) {
            if try file.size() > 0 { return false }
            let beside = ["-wal", "-journal"].contains { suffix in
                (try? Platform.status(of: connection.filename + suffix).size) ?? 0 > 0
            }
            if !beside { return true }
            Platform.sleep(milliseconds: 5)
        }
        return false
    }

    private var keyingMisuse: String {
        switch state {
        case .closed: "open the database before setting its key"
        case .plain where path == nil || path == "": "a database in memory is never written to disk and takes no key"
        default: "a connection is keyed once, before anything else; close and open it to use another key"
        }
    }

    /// Gives `connection`, whose file has bytes in it, its key, and proves it.
    ///
    /// The first page is authenticated here before the engine gets the key: the engine would let a wrong key through to
    /// the write-ahead log on closing, and calls everything by one code.
    func verify(_ connection: Connection, _ credential: Credential) throws -> Unlocked {
        guard Engine.current.canEncrypt else { throw KeyError.engineHasNoEncryption }
        switch try FileKind.recognise(EngineFile(connection)) {
        case .plaintext: throw KeyError.notEncrypted
        case .empty, .tooShort: throw KeyError.notADatabase
        case .opaque: break
        }
        try checkSideFiles(connection)
        let unlocked = try identify(credential, connection)
        try handOver(unlocked, to: connection)
        do {
            try testSelect(connection)
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            // The page that was probed was not the one in force: a log brings another. Closing must not move that log.
            connection.leaveLogOnClose()
            throw KeyError.wrongKey
        } catch let error as DatabaseError where error.code.primary == .corrupt {
            throw explained(error, connection, unlocked)
        }
        return unlocked
    }

    private func identify(_ credential: Credential, _ connection: Connection) throws -> Unlocked {
        guard let preferred = configuration.format ?? Engine.current.formats.first else {
            throw KeyError.engineHasNoEncryption
        }
        switch try probe(credential, formats: [preferred], connection) {
        case .opens(let key, let format):
            guard Engine.current.formats.contains(where: { $0.version == format.version }) else {
                throw KeyError.otherFormat(format)
            }
            return Unlocked(key: key, format: format)
        case .firstPageDamaged:
            throw KeyError.damaged(pages: [1])
        case .rejected:
            break
        }
        if case .key(let key) = credential {
            // Under a raw key a file in format 1 may be one that somebody laid out anew; see SECURITY.md.
            let others = CipherFormat.standard.filter {
                ($0.version != preferred.version || $0.iterations != preferred.iterations)
                    && (key.isPassphrase || $0.pageAuthentication != nil)
            }
            switch try probe(credential, formats: others, connection) {
            case .opens(_, let format), .firstPageDamaged(_, let format): throw KeyError.otherFormat(format)
            case .rejected: break
            }
        }
        throw try FileKind.looksEncrypted(EngineFile(connection)) ? KeyError.wrongKey : .notADatabase
    }

    /// Keys a file without bytes, and writes its first page: until then any key would seem right.
    private func encryptNew(_ connection: Connection, _ credential: Credential) throws -> Unlocked {
        guard Engine.current.canEncrypt else { throw KeyError.engineHasNoEncryption }
        guard let format = credential.format ?? configuration.format ?? Engine.current.formats.first else {
            throw KeyError.engineHasNoEncryption
        }
        guard Engine.current.formats.contains(where: { $0.version == format.version }) else {
            throw KeyError.otherFormat(format)
        }
        try checkSideFiles(connection)
        let unlocked = try credential.unlockingNew(format)
        try handOver(unlocked, to: connection)
        do {
            try connection.execute("PRAGMA user_version = 0")
            try testSelect(connection)
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            throw DatabaseError(.busy, "another connection created the file at the same time; open it again")
        }
        let file = try EngineFile(connection)
        guard !connection.hasMoved else {
            throw DatabaseError(.busy, "the file was removed while it was made; open it again")
        }
        guard try FileKind.recognise(file) == .opaque, try file.read(CipherFormat.saltSize, at: 0) == unlocked.key.salt
        else {
            // Nothing but an empty schema was written so far, by this connection.
            if case .opened(_, _, created: true) = state { try? Platform.remove(connection.filename) }
            throw KeyError.engineHasNoEncryption
        }
        return unlocked
    }

    func handOver(_ unlocked: Unlocked, to connection: Connection) throws {
        let isAuthenticated = unlocked.format.pageAuthentication != nil
        if isAuthenticated { _ = try DamageBehaviour.ofThisEngine.get() }
        let literal = try unlocked.key.literal()
        // 4.x writes each wrong key to standard error, unless told not to; what has no such setting ignores it.
        let settings = "PRAGMA cipher_log_level = NONE;" + cipherSettings(unlocked.format)
        try Engine.keying.withLock { _ in
            try connection.key(literal)
            try connection.execute(settings)
        }
        connection.authorizer.isLockedDown = !configuration.unsafeAllowsAllSQL
        connection.setDefensive(!configuration.unsafeAllowsAllSQL)
        connection.isWatched = isAuthenticated
    }

    /// The pragmas that make the engine's own format into `format`; none where they are the same.
    private func cipherSettings(_ format: CipherFormat) -> String {
        guard let own = Engine.current.formats.first, format != own else { return "" }
        var settings: [String] = []
        if Engine.current.has(.cipherCompatibility) {
            settings.append("cipher_compatibility = \(format.version)")
        } else if format.pageAuthentication == nil {
            settings.append("cipher_use_hmac = OFF")
        }
        settings.append("cipher_page_size = \(format.pageSize)")
        settings.append("kdf_iter = \(format.iterations)")
        return settings.map { "PRAGMA \($0);" }.joined()
    }

    /// Reads a page through the engine. `SELECT 1` would not: it succeeds under a wrong key.
    func testSelect(_ connection: Connection) throws {
        // All of the schema: a view whose text is cut off by a damaged page may still be one.
        _ = try connection.text("SELECT max(length(sql)) FROM sqlite_master")
    }
}
