import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// A compiled statement that SQLite compiles again, because a schema changed, and that then reads a damaged page it did not read before.
@Suite final class RecompiledStatementTests: RawKeyFixture {
    /// A database `path` whose last page, the end of a long value, has one bit changed.
    override init() throws {
        try super.init()
        let queue = try DatabaseQueue(path: path, key: key)
        let pageSize = try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            try database.executeUpdate("INSERT INTO t VALUES (1, ?)", String(repeating: "a", count: 10_000))
            return database.cipherFormat?.pageSize ?? 0
        }
        try queue.close()
        try flipByte(of: path, at: FileState(path).bytes.count - pageSize + 5)
    }

    /// What a statement reads first, and what makes it read the damaged page.
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// `t`, `v` or `w` are other things at first.
        let before: String
        let after: String
        /// Where `t` or `v` stands for it.
        var source = "t"
    }

    /// In a sound database to which the damaged one is attached as `o`.
    static let changes = [
        Change(
            testDescription: "a view over another table",
            before: "CREATE TEMP VIEW v AS SELECT id, a FROM main.s",
            after: "DROP VIEW v; CREATE TEMP VIEW v AS SELECT id, a FROM o.t",
            source: "v"
        ),
        Change(
            testDescription: "a view that read nothing",
            before: "CREATE TEMP VIEW v AS SELECT 1 AS id, 'a' AS a",
            after: "DROP VIEW v; CREATE TEMP VIEW v AS SELECT id, a FROM o.t",
            source: "v"
        ),
        Change(
            testDescription: "a temporary table before it",
            before: "CREATE TEMP TABLE t (id, a); INSERT INTO temp.t VALUES (1, 'a')",
            after: "DROP TABLE temp.t"
        ),
        Change(
            testDescription: "a table of the main database before it",
            before: "CREATE TABLE main.t (id, a); INSERT INTO main.t VALUES (1, 'a')",
            after: "DROP TABLE main.t"
        ),
    ]

    private func attached() throws -> Database {
        let database = try open(directory.file("sound.db"))
        try database.executeStatements(
            "CREATE TABLE s (id, a); INSERT INTO s VALUES (1, 'a'); CREATE TABLE copy (a); CREATE TABLE w (a)"
        )
        try database.attach(path, as: "o", key: key)
        return database
    }

    private func isDamage(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? KeyError)?.damagedPages != nil || (error as? DatabaseError)?.code.primary == .corrupt
        }
    }

    @Test(arguments: changes, [false, true])
    func queryCompiledAgainIsWatched(change: Change, inTransaction: Bool) throws {
        let database = try attached()
        try database.executeStatements(SQL(unsafe: change.before))
        let sql = SQL(unsafe: "SELECT id FROM \(change.source) WHERE hex(a) LIKE '%61'")
        #expect(try database.int(forQuery: sql) == 1)
        try database.executeStatements(SQL(unsafe: change.after))
        if inTransaction { try database.beginTransaction(.deferred) }
        #expect(isDamage { _ = try database.int(forQuery: sql) })
    }

    @Test func tableBehindTemporaryOneIsWatched() throws {
        let database = try open(path)
        let sql: SQL = "SELECT id FROM t WHERE hex(a) LIKE '%61'"
        try database.executeStatements("CREATE TEMP TABLE t (id, a); INSERT INTO temp.t VALUES (1, 'a')")
        #expect(try database.int(forQuery: sql) == 1)
        try database.executeStatements("DROP TABLE temp.t")
        #expect(isDamage { _ = try database.int(forQuery: sql) })
    }

    @Test(arguments: changes, [false, true])
    func nothingIsWrittenByStatementCompiledAgain(change: Change, inTransaction: Bool) throws {
        let database = try attached()
        try database.executeStatements(SQL(unsafe: change.before))
        let copies = SQL(unsafe: "INSERT INTO main.copy SELECT a FROM \(change.source)")
        let deletes = SQL(
            unsafe: "DELETE FROM main.s WHERE id NOT IN (SELECT id FROM \(change.source) WHERE hex(a) LIKE '%61')"
        )
        try database.executeUpdate(copies)
        try database.executeUpdate(deletes)
        try database.executeStatements("DELETE FROM copy;" + SQL(unsafe: change.after))
        for sql in [copies, deletes] {
            if inTransaction {
                #expect(isDamage { try database.inTransaction { try $0.executeUpdate(sql) } })
            } else {
                #expect(isDamage { try database.executeUpdate(sql) })
            }
        }
        #expect(try database.count(in: TableName("copy", in: "main")) == 0)
        #expect(try database.count(in: TableName("s", in: "main")) == 1)
    }

    @Test func triggerThatReadsAnotherDatabaseIsWatched() throws {
        let database = try attached()
        let inserts: SQL = "INSERT INTO main.w VALUES (1)"
        try database.executeStatements(
            "CREATE TEMP TRIGGER copies AFTER INSERT ON main.w BEGIN INSERT INTO copy SELECT 1; END"
        )
        try database.executeUpdate(inserts)
        try database.executeStatements(
            """
            DROP TRIGGER copies; DELETE FROM copy; DELETE FROM w;
            CREATE TEMP TRIGGER copies AFTER INSERT ON main.w BEGIN INSERT INTO copy SELECT a FROM o.t; END
            """
        )
        for _ in 0..<2 { #expect(isDamage { try database.executeUpdate(inserts) }) }
        #expect(try database.count(in: "copy") == 0)
        #expect(try database.count(in: "w") == 0)
    }

    @Test(.enabled(if: Engine.current.has(.returning), "this engine has no RETURNING"))
    func returningIsWatched() throws {
        let database = try attached()
        let inserts: SQL = "INSERT INTO main.w VALUES (1) RETURNING (SELECT a FROM v)"
        try database.executeStatements("CREATE TEMP VIEW v AS SELECT 'a' AS a")
        #expect(try database.string(forQuery: inserts) == "a")
        try database.executeStatements("DROP VIEW v; CREATE TEMP VIEW v AS SELECT a FROM o.t")
        #expect(isDamage { _ = try database.string(forQuery: inserts) })
    }

    @Test func statementCompiledAgainKeepsNoLock() throws {
        let database = try attached()
        try database.executeStatements(SQL(unsafe: Self.changes[0].before))
        #expect(try database.int(forQuery: "SELECT id FROM v") == 1)
        try database.executeStatements(SQL(unsafe: Self.changes[0].after))
        // The page with the row itself is sound.
        #expect(try database.int(forQuery: "SELECT id FROM v") == 1)
        let other = try open(path)
        other.busyTimeout = .zero
        try other.executeStatements("CREATE TABLE other (a); DROP TABLE other")
    }
}
