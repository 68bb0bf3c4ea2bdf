internal import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import Foundation

/// What a subclass of ``FMDatabase`` says whose databases a queue or pool makes: `databaseClass()` names it, and this initialiser makes it.
/// A subclass without initialisers of its own has it already.
public protocol FMDatabaseClass: FMDatabase {
    /// A database that is not opened yet.
    init(path: String?)
}

extension FMDatabase {
    /// A database of a class that a queue or pool names; nil, and a line on standard error, where it cannot be made.
    static func ofClass(_ name: AnyClass, path: String?) -> FMDatabase? {
        if let type = name as? any FMDatabaseClass.Type { return type.init(path: path) }
        if name == FMDatabase.self { return FMDatabase(path: path) }
        log("databaseClass(): \(name) must be an FMDatabase that says FMDatabaseClass")
        return nil
    }

    static func configuration(vfs: String?, allowsPlaintext: Bool, format: CipherFormat? = nil) -> Configuration {
        Configuration {
            // FMDB knows no other way to a file than to open it and perhaps give a key.
            $0.allowsPlaintext = allowsPlaintext
            $0.busyTimeout = .seconds(2)
            // As in FMDB, and in the files of programs that come from there.
            $0.enforcesForeignKeys = false
            $0.trustsSchema = true
            $0.storage.dates = .secondsSince1970
            $0.vfs = vfs
            $0.format = format
            // Its pragmas come behind the key.
            $0.searchesAllFormats = true
        }
    }

    func openFile(_ flags: Int32, _ vfs: String?) -> Bool {
        attempt {
            let present = database.configuration
            let isInMemory = flags & SQLITE_OPEN_MEMORY != 0 || !isOfFile
            let path = isInMemory ? nil : databasePath
            let isOther = vfs != present.vfs || present.allowsPlaintext == requiresKey || present.format != nil
            if !database.isOpen, isOther || path != database.path {
                replaceDatabase(path, FMDatabase.configuration(vfs: vfs, allowsPlaintext: !requiresKey))
            }
            openFlags = OpenFlags(rawValue: flags & ~SQLITE_OPEN_WITHOUT_MEANING)
            try database.open(flags: openFlags)
            rememberInterrupter()
        }
    }

    /// Whether its path is one of a file, also where it is opened in memory now.
    var isOfFile: Bool {
        // SQLCipher 4 takes the second for a URI.
        guard let databasePath else { return false }
        return databasePath != ":memory:" && !databasePath.hasPrefix("file::memory:")
    }

    /// Opens the file again for a key that is right in another format than the engine's own.
    private func reopen(as format: CipherFormat) throws {
        let present = database.configuration
        replaceDatabase(
            database.path,
            FMDatabase.configuration(vfs: present.vfs, allowsPlaintext: present.allowsPlaintext, format: format)
        )
        try database.open(flags: openFlags)
    }

    private func replaceDatabase(_ path: String?, _ configuration: Configuration) {
        let interval = maxBusyRetryTimeInterval
        let replaced = database
        database = Database(path: path, configuration: configuration, turn: turn)
        database.takeFunctions(of: replaced)
        maxBusyRetryTimeInterval = interval
        database.statementCacheCapacity = shouldCacheStatements ? 100 : 0
        setDateFormat(dateFormatter)
        installTrace()
    }

    func rememberInterrupter() {
        let present = database.interrupter
        interrupter.withLock { $0 = present }
    }

    func installTrace() {
        guard traceExecution else { return database.setTrace(nil) }
        database.setTrace { event in
            if case .began(let sql) = event { FMDatabase.log("executes: \(sql)") }
        }
    }

    static func log(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("FMDB: \(text)\n".utf8))
    }

    // MARK: Keys

    func keyed(text: String) -> Bool { keyed { try DatabaseKey.engineBytes(SecretBytes(utf8: text)) } }

    func keyed(bytes: Data) -> Bool {
        keyed { try DatabaseKey.engineBytes(bytes.withUnsafeBytes { try SecretBytes(copying: $0) }) }
    }

    private func keyed(_ key: () throws -> DatabaseKey) -> Bool {
        guard let stay = turn.enterIfFree() else { return attempt {} }
        defer { turn.leave(stay) }
        // A database in memory never reaches a disk.
        if isOfFile { requiresKey = true }
        return rekeyed {
            do {
                let key = try key()
                if let present = database.verifiedKey, try present.isOpened(by: key) { return }
                try set(key)
            } catch {
                closeUnlessKeyed()
                throw error
            }
        }
    }

    /// Sets the key, in the format in which it is right: FMDB's programs say that by pragmas behind the key.
    private func set(_ key: DatabaseKey) throws {
        do {
            try database.setKey(key)
        } catch let error as KeyError {
            guard error.code == .otherFormat, let format = error.format, Engine.current.writes(format) else {
                throw error
            }
            try reopen(as: format)
            try database.setKey(key)
        }
    }

    func rekeyed(_ body: () throws -> Void) -> Bool {
        guard let stay = turn.enterIfFree() else { return attempt {} }
        defer { turn.leave(stay) }
        let done = attempt(body)
        access = database.verifiedKey ?? access
        rememberInterrupter()
        return done
    }

    /// A program that ignores the result of `setKey` would write plaintext.
    func closeUnlessKeyed() {
        if requiresKey, database.verifiedKey == nil { database.close() }
    }

    func pragma(_ name: String) -> String? {
        answer { try database.string(forQuery: "PRAGMA \(raw: name)") } ?? nil
    }

    /// The version of SQLCipher, such as `4.6.1 community`; nil where the engine is another.
    public var cipherVersion: String? { Engine.current.sqlcipherVersion }

    /// Whether SQLCipher runs in its FIPS mode: `1` or `0`.
    public var cipherFipsStatus: String? { pragma("cipher_fips_status") }

    /// The library that encrypts for SQLCipher, such as `openssl`.
    public var cipherProvider: String? { pragma("cipher_provider") }

    /// The version of the library that encrypts for SQLCipher.
    public var cipherProviderVersion: String? { pragma("cipher_provider_version") }
}
