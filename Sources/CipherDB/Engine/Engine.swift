internal import CSQLCipher
internal import CipherKeys
internal import CipherSystem

/// The SQLCipher of this process, and its features, found by trying them.
public struct Engine: Sendable {
    /// The engine of this process.
    public static let current = Engine()

    /// Such as `4.6.1 community`; nil where the library is not SQLCipher.
    public let sqlcipherVersion: String?
    /// Such as `3.46.1`.
    public let sqliteVersion: String
    /// The libcrypto that keys are derived with, such as `3.0.19`.
    public let opensslVersion: String
    /// What this engine can do.
    public let capabilities: Set<Capability>

    /// Whether a key given to this engine encrypts.
    ///
    /// False for a plain SQLite, and where the functions that open and that key come from two libraries.
    public let canEncrypt: Bool

    /// The formats this engine reads and writes, its own default first.
    public let formats: [CipherFormat]

    /// How CipherDB notices that this engine read a damaged page: it tries that once in each process, on a database in memory.
    public var damageDetection: DamageDetection {
        (try? DamageBehaviour.ofThisEngine.get().detection) ?? .none
    }

    /// Whether this engine can lose committed rows when another connection restarts the WAL during a checkpoint (sqlite.org/wal.html,
    /// "The WAL-Reset Bug"), as SQLite before 3.51.3 can, other than 3.50.7 and 3.44.6.
    ///
    /// CipherDB guards the checkpoints of its own connections. A checkpoint of another program on such an engine still loses rows.
    public var hasWALResetBug: Bool { CheckpointGuard.isNeeded }

    /// Whether this engine has `capability`.
    public func has(_ capability: Capability) -> Bool {
        capabilities.contains(capability)
    }

    /// The SQLite version of the header that CipherDB was compiled with; another than ``sqliteVersion`` is a mix-up.
    package static var headerVersion: String { SQLITE_VERSION }

    /// Engines before 4.17 race on global state while connections are keyed (sqlcipher#598): one at a time.
    ///
    /// The number means nothing: a value without bytes would stand where the lock's own type does, and ThreadSanitizer would take
    /// reading that for a race.
    static let keying = Lock(0)

    /// Whether it reports a table that a statement reads without a column, as `count(*)` does: since SQLite 3.20.
    static let tellsTablesWithoutColumns = sqlite3_libversion_number() >= 3_020_000

    /// Whether `PRAGMA integrity_check` takes the name of a table: since SQLite 3.33.
    static let checksSingleTables = sqlite3_libversion_number() >= 3_033_000

    /// Has the engine overwrite all memory that it gives back, and lock what it uses, for as long as the process lives.
    ///
    /// SQLCipher 4 can do that (`PRAGMA cipher_memory_security`); call it before the first database is opened. Without it pages
    /// that were decrypted may stand in freed memory; keys are overwritten in any case. It makes the engine slow: writing took
    /// nine to twenty times as long.
    ///
    /// - Returns: whether it is in force.
    @discardableResult
    public func wipeMemory() -> Bool {
        guard let connection = try? Connection(path: ":memory:", flags: [.readWrite, .create]) else { return false }
        defer { connection.close() }
        try? connection.execute("PRAGMA cipher_memory_security = ON")
        return (try? connection.text("PRAGMA cipher_memory_security")) == "1"
    }

    private init() {
        sqliteVersion = String(cString: sqlite3_libversion())
        opensslVersion = Cryptography.version
        // In memory: nothing reaches the disk before it is known whether this engine can encrypt.
        guard let connection = try? Connection(path: ":memory:", flags: [.readWrite, .create]) else {
            sqlcipherVersion = nil
            capabilities = []
            canEncrypt = false
            formats = []
            return
        }
        let version = try? connection.text("PRAGMA cipher_version")
        sqlcipherVersion = version
        canEncrypt = version != nil && csqlcipher_is_one_library() != 0
        capabilities = Set(Capability.allCases.filter { $0.isPresent(in: connection, sqlcipherVersion: version) })
        let major = version.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        formats = CipherFormat.standard.filter { $0.version <= major }
    }

}

extension Engine: CustomStringConvertible {
    /// Such as `SQLCipher 4.6.1 community, SQLite 3.46.1, OpenSSL 3.0.19`.
    public var description: String {
        "SQLCipher \(sqlcipherVersion ?? "(none)"), SQLite \(sqliteVersion), \(Cryptography.name)"
    }
}

/// A feature that some engines have and others lack.
public enum Capability: String, Sendable, Hashable, CaseIterable {
    /// Full-text search, versions 3 and 4.
    case fts4
    /// Full-text search, version 5.
    case fts5
    /// R-tree indexes.
    case rtree
    /// The JSON functions.
    case json
    /// SQLite's binary form of JSON.
    case jsonb
    /// The mathematical functions, such as `sqrt`.
    case math
    /// `INSERT … ON CONFLICT DO UPDATE`.
    case upsert
    /// `INSERT … RETURNING`.
    case returning
    /// Window functions: `row_number() OVER ()`.
    case windowFunctions
    /// Tables declared `STRICT`.
    case strictTables
    /// Columns declared `AS (…)`.
    case generatedColumns
    /// `ALTER TABLE … DROP COLUMN`.
    case dropColumn
    /// `ALTER TABLE … RENAME COLUMN`, and `RENAME TO` that reaches triggers, views and foreign keys.
    case renameColumn
    /// `VACUUM INTO`.
    case vacuumInto
    /// `PRAGMA cipher_integrity_check`.
    case cipherIntegrityCheck
    /// `PRAGMA cipher_compatibility`: the older formats by their number.
    case cipherCompatibility
    /// `sqlcipher_export` with two arguments: also out of an attached database.
    case exportFromAttached

    /// Tries it on a database in memory.
    func isPresent(in connection: Connection, sqlcipherVersion: String?) -> Bool {
        func runs(_ sql: String) -> Bool {
            let begun = (try? connection.execute("SAVEPOINT capability")) != nil
            defer { if begun { try? connection.execute("ROLLBACK TO capability; RELEASE capability") } }
            return (try? connection.execute(sql)) != nil
        }
        func compiles(_ sql: String) -> Bool {
            guard let (statement, _) = try? connection.prepare(sql) else { return false }
            statement.finalize()
            return true
        }
        return switch self {
        case .fts4: runs("CREATE VIRTUAL TABLE t USING fts4(a)")
        case .fts5: runs("CREATE VIRTUAL TABLE t USING fts5(a)")
        case .rtree: runs("CREATE VIRTUAL TABLE t USING rtree(id, low, high)")
        case .json: runs("SELECT json('{}')")
        case .jsonb: runs("SELECT json_valid(jsonb('{}'), 8)")
        case .math: runs("SELECT sqrt(4)")
        case .upsert: runs("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES(1) ON CONFLICT(a) DO UPDATE SET a = 2")
        case .returning: runs("CREATE TABLE t(a); INSERT INTO t VALUES(1) RETURNING a")
        case .windowFunctions: runs("SELECT row_number() OVER ()")
        case .strictTables: runs("CREATE TABLE t(a INT) STRICT")
        case .generatedColumns: runs("CREATE TABLE t(a, b AS (a + 1))")
        case .renameColumn: runs("CREATE TABLE t(a); ALTER TABLE t RENAME COLUMN a TO b")
        case .dropColumn: runs("CREATE TABLE t(a, b); ALTER TABLE t DROP COLUMN b")
        // Running it would write a file.
        case .vacuumInto: compiles("VACUUM INTO 'x'")
        case .exportFromAttached: compiles("SELECT sqlcipher_export('main', 'temp')")
        // An unknown pragma is no error and gives no row, and these give none in memory either: the version tells.
        case .cipherIntegrityCheck, .cipherCompatibility:
            sqlcipherVersion.flatMap { Int($0.prefix { $0.isNumber }) }.map { $0 >= 4 } ?? false
        }
    }
}

/// Formats in the terms of SQLCipher's pragmas.
extension Engine {
    /// The format that this engine writes unless asked otherwise.
    package func ownFormat() throws(KeyError) -> CipherFormat {
        guard canEncrypt, let format = formats.first else { throw KeyError(.engineHasNoEncryption) }
        return format
    }

    /// Whether it reads and writes files of the format, whatever their page size.
    package func writes(_ format: CipherFormat) -> Bool {
        guard let newest = formats.first?.version, let needed = Engine.versionNeeded(by: format) else { return false }
        return needed <= newest
    }

    /// The first major version of SQLCipher that opens a format; nil where none does.
    package static func versionNeeded(by format: CipherFormat) -> Int? {
        // SQLite3 Multiple Ciphers alone.
        guard (format.macKeyDerivation ?? format.keyDerivation) == format.keyDerivation else { return nil }
        let needsPragmas =
            format.keyDerivation != .sha1 || ![nil, .sha1].contains(format.pageAuthentication)
            || format.plaintextHeaderSize > 0
        return needsPragmas ? 4 : format.version
    }

    /// The pragmas behind the key that make the engine's own format into `format`; none if they are the same.
    ///
    /// Their order is one in which each is valid for what stands before it: `cipher_compatibility` resets most of the others, and the
    /// header must fit into the page.
    static func settings(of format: CipherFormat) throws -> String {
        let own = try current.ownFormat()
        guard format != own else { return "" }
        var settings: [String] = []
        let isNew = current.has(.cipherCompatibility)
        if isNew { settings.append("cipher_compatibility = \(format.version)") }
        settings.append("cipher_page_size = \(format.pageSize)")
        if let hash = format.pageAuthentication {
            // After cipher_compatibility = 1 there are none.
            settings.append("cipher_use_hmac = ON")
            if isNew { settings.append("cipher_hmac_algorithm = HMAC_\(hash.rawValue)") }
        } else {
            settings.append("cipher_use_hmac = OFF")
        }
        if isNew { settings.append("cipher_kdf_algorithm = PBKDF2_HMAC_\(format.keyDerivation.rawValue)") }
        settings.append("kdf_iter = \(format.iterations)")
        if format.macKeyIterations != CipherFormat.usualMACKeyIterations {
            settings.append("fast_kdf_iter = \(format.macKeyIterations)")
        }
        if format.pageNumberOrder != .littleEndian {
            settings.append("cipher_hmac_pgno = \(format.pageNumberOrder.rawValue)")
        }
        if format.plaintextHeaderSize > 0 {
            settings.append("cipher_plaintext_header_size = \(format.plaintextHeaderSize)")
        }
        return settings.map { "PRAGMA \($0);" }.joined()
    }
}
