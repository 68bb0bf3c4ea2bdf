internal import CSQLCipher
internal import CipherKeys
internal import CipherSystem

/// What an engine does after it read a page whose MAC is wrong: it hands out zeros for that page, without an error, and keeps a sign
/// that ``DamageWatch`` looks at.
struct DamageBehaviour: Sendable, Equatable {
    let detection: DamageDetection
    /// Whether the connection reads nothing more after it, and must be opened again.
    let isLasting: Bool

    /// What the engine of this process does; `KeyError.engineHasNoEncryption`, or `KeyError.engineHidesDamage` where it leaves no
    /// sign that is known.
    ///
    /// It is tried, on a database in memory whose last page is changed, and not concluded from a version.
    static let ofThisEngine = Result<DamageBehaviour, KeyError> {
        () throws(KeyError) in
        do {
            return try prove()
        } catch let error as KeyError {
            throw error
        } catch {
            throw KeyError(.engineHidesDamage)
        }
    }

    private static func prove() throws -> DamageBehaviour {
        let format = try Engine.current.ownFormat()
        guard let file = MemoryFile() else { throw KeyError(.engineHidesDamage) }
        let key = try VerifiedKey(newFileUnder: .random(), format: format).key.literal()
        let made = try open(file, key)
        // The value ends on the last page, which is the last that a query for it reads.
        try made.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(10000))")
        made.close()
        guard file.bytes.count > 10_000, !file.bytes.starts(with: Array("SQLite format 3".utf8)) else {
            throw KeyError(.engineHasNoEncryption)
        }
        file.bytes[file.bytes.count - 100] ^= 1

        let connection = try open(file, key)
        defer { connection.close() }
        let pager = DamageBehaviour(detection: .pager, isLasting: false)
        let watch = try DamageWatch.of("main", connection, by: pager)
        defer { watch.close(connection) }
        let before = try connection.codecStatus("main")
        watch.begin()
        try watch.hold()
        // Of an engine that answers with an error by itself no sign is needed, nor found out.
        _ = try? connection.text("SELECT a FROM t")
        let pagerFails = (try? watch.check()) == nil
        let after = try connection.codecStatus("main")
        watch.end()
        let isLasting = (try? connection.text("SELECT count(*) FROM t")) != "1"
        return try concluded(pagerFails: pagerFails, codec: (before, after), isLasting: isLasting)
    }

    /// What was seen means.
    ///
    /// - Parameter codec: Before and after a damaged page was read.
    static func concluded(
        pagerFails: Bool,
        codec: (before: CodecStatus?, after: CodecStatus?),
        isLasting: Bool
    ) throws(KeyError) -> DamageBehaviour {
        if pagerFails { return DamageBehaviour(detection: .pager, isLasting: isLasting) }
        guard codec.before == .works, codec.after == .failed else { throw KeyError(.engineHidesDamage) }
        return DamageBehaviour(detection: .codec, isLasting: true)
    }

    private static func open(_ file: MemoryFile, _ key: SecretBytes) throws -> Connection {
        let connection = try file.open()
        try Engine.keying.withLock { _ in
            try connection.key(key)
            try connection.execute("PRAGMA cipher_log_level = NONE; PRAGMA journal_mode = OFF")
        }
        return connection
    }
}

/// How CipherDB detects that the engine read a page whose MAC is wrong. The engine hands out zeros for it, without an error.
public enum DamageDetection: String, Sendable, Hashable {
    /// By the pager, which fails until its lock is released: seen in SQLCipher 3.4.1 to 4.12.
    case pager
    /// By the codec, which fails until the connection is closed and says so in `PRAGMA cipher_status`: seen in SQLCipher 4.19.
    case codec
    /// Not at all: such an engine opens no encrypted database (`KeyError.engineHidesDamage`).
    case none
}
