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

    /// Whether it is told that a statement reads a table of which it reads no column, as `count(*)` does: since SQLite 3.20.
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
        opensslVersion = OpenSSL.version
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
        "SQLCipher \(sqlcipherVersion ?? "(none)"), SQLite \(sqliteVersion), OpenSSL \(opensslVersion)"
    }
}
