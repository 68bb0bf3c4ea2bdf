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
