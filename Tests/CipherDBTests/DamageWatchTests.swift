import CipherDB
import CipherKeys
import TestSupport
import Testing

/// Statements that outlive the schemas which they read.
@Suite struct DamageWatchTests {
    @Test func aStatementWhoseSchemaWasAwayWatchesItWhenItIsBack() throws {
        let folder = try TemporaryFolder()
        let key = try DatabaseKey.random()
        // The last page has the end of a long value.
        let other = folder.file("other.db")
        let queue = try DatabaseQueue(path: other, key: key)
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE o (id INTEGER PRIMARY KEY, y)")
            try database.executeUpdate("INSERT INTO o VALUES (1, ?)", String(repeating: "a", count: 10_000))
        }
        let pageSize = try queue.inDatabase { $0.cipherFormat?.pageSize } ?? 0
        try queue.close()
        try flipByte(of: other, at: FileState(other).bytes.count - pageSize + 5)

        let database = Database(path: folder.file("main.db"))
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
}
