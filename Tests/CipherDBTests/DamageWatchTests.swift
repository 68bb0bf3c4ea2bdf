import CipherDB
import CipherKeys
import TestSupport
import Testing

/// Statements that outlive the schemas which they read.
@Suite struct DamageWatchTests {
    /// A database whose last page has the end of a long value, changed in one byte.
    private func makeDamaged(_ path: String, _ key: DatabaseKey, table: String, column: String) throws {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { database in
            try database.executeStatements(SQL(unsafe: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, \(column))"))
            try database.executeUpdate(
                SQL(unsafe: "INSERT INTO \(table) VALUES (1, ?)"),
                String(repeating: "a", count: 10_000)
            )
        }
        let pageSize = try queue.inDatabase { $0.cipherFormat?.pageSize } ?? 0
        try queue.close()
        try flipByte(of: path, at: FileState(path).bytes.count - pageSize + 5)
    }

    @Test func reattachedSchemaIsWatched() throws {
        let directory = try TemporaryDirectory()
        let key = try DatabaseKey.random()
        let other = directory.file("other.db")
        try makeDamaged(other, key, table: "o", column: "y")

        let database = Database(path: directory.file("main.db"))
        try database.open(key: key)
        try database.executeStatements("CREATE TABLE m (x); INSERT INTO m VALUES (1)")
        try database.attach(other, as: "b", key: key)
        let statement = try database.prepare("SELECT x, y FROM m JOIN b.o ON id = x")
        try database.executeStatements("DETACH b")
        #expect(throws: DatabaseError.self) { _ = try statement.executeQuery().next() }
        try database.attach(other, as: "b", key: key)
        #expect(throws: (any Error).self) {
            let rows = try statement.executeQuery()
            while try rows.next() {}
        }
    }

    @Test func statementOfShadowedTableIsWatched() throws {
        let directory = try TemporaryDirectory()
        let key = try DatabaseKey.random()
        let path = directory.file("test.db")
        try makeDamaged(path, key, table: "t", column: "a")

        let database = Database(path: path)
        try database.open(key: key)
        try database.executeStatements("CREATE TEMP TABLE t (id, a); INSERT INTO temp.t VALUES (0, 'x')")
        let sql = "SELECT a FROM t"
        let statement = try database.prepare(SQL(unsafe: sql))
        let rows = try statement.executeQuery()
        #expect(try rows.next() && rows[0] as String == "x")
        rows.close()
        #expect(try database.string(forQuery: SQL(unsafe: sql)) == "x")
        try database.executeStatements("DROP TABLE temp.t")
        #expect(throws: (any Error).self) { _ = try statement.executeQuery().next() }
        #expect(throws: (any Error).self) { try database.string(forQuery: SQL(unsafe: sql)) }
    }
}
