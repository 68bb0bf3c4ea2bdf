import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Values whose types the compiler knows are bound another way than those of an array: the same must come of it.
@Suite struct TypedValueTests {
    enum Kind: String, ColumnEncodable, ColumnDecodable { case note, task }

    let database = Database(path: nil)

    init() throws {
        try database.open()
        try database.executeStatements("CREATE TABLE t (a, b, c, d, e, f, g, h)")
    }

    @Test func typedValuesAreStoredAsThoseOfArray() throws {
        let (date, uuid, none) = (Date(timeIntervalSince1970: 1.5), UUID(), Int?.none)
        let insert = "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        try database.executeUpdate(SQL(unsafe: insert), 1, "text", 2.5, Data([1, 2]), date, uuid, Kind.task, none)
        let list: [(any ColumnEncodable)?] = [1, "text", 2.5, Data([1, 2]), date, uuid, Kind.task, none]
        try database.executeUpdate(SQL(unsafe: insert), values: StatementValues(list))
        let statement = try database.prepare(SQL(unsafe: insert))
        try statement.executeUpdate(1, "text", 2.5, Data([1, 2]), date, uuid, Kind.task, none)
        #expect(try database.int(forQuery: "SELECT count(*) FROM (SELECT DISTINCT * FROM t)") == 1)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 3)
        let kinds = "integer text real blob text text text null"
        let types = (0..<8).map { "typeof(\("abcdefgh".map(String.init)[$0]))" }.joined(separator: " || ' ' || ")
        #expect(try database.string(forQuery: SQL(unsafe: "SELECT \(types) FROM t")) == kinds)
    }

    @Test func dateUsesDatabaseFormat() throws {
        database.dateFormat = DateFormat(string: { _ in "1970" }, date: { _ in nil })
        try database.executeUpdate("INSERT INTO t (a) VALUES (?)", Date(timeIntervalSince1970: 0))
        #expect(try database.string(forQuery: "SELECT a FROM t") == "1970")
    }

    @Test(arguments: [0, 1, 1023, 1024, 1025, 100_000])
    func valuesBeyondBufferStayWhole(count: Int) throws {
        let text = String(repeating: "a", count: count)
        let data = Data(repeating: 7, count: count)
        let bytes = ByteArray(Array(data))
        let insert = try database.prepare("INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?)")
        for _ in 0..<3 { try insert.executeUpdate(text, bytes, text + "b", data) }
        let rows = try database.executeQuery("SELECT a, b, c, d FROM t")
        for _ in 0..<3 {
            #expect(try rows.next())
            #expect(try rows[0] as String == text)
            #expect(try rows[1] as ByteArray == bytes)
            #expect(try rows[2] as String == text + "b")
            #expect(try rows[3] as Data == data)
        }
        // The values of a query stay as long as its rows are read.
        let asked = try database.executeQuery("SELECT ?, ? UNION ALL SELECT ?, ?", text, bytes, text, bytes)
        for _ in 0..<2 {
            #expect(try asked.next())
            #expect(try asked[0] as String == text)
            #expect(try asked[1] as ByteArray == bytes)
        }
    }

    @Test func wrongValuesRunNothing() throws {
        let insert = try database.prepare("INSERT INTO t (a, b) VALUES (?, ?)")
        for _ in 0..<2 {
            #expect(throws: DatabaseError.self) { try insert.executeUpdate(1) }
            #expect(throws: DatabaseError.self) { try insert.executeUpdate(1, 2, 3) }
            #expect(throws: DatabaseError.self) { try insert.executeUpdate("secret", UInt64.max) }
            #expect(throws: DatabaseError.self) { try database.executeUpdate(SQL(unsafe: insert.sql), 1) }
            #expect(throws: DatabaseError.self) { try database.executeQuery("SELECT ?", 1, 2) }
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
        #expect(!database.hasOpenResultSets)
        try insert.executeUpdate(1, 2)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 1)
    }

    @Test func statementIsCheckedOutOnce() throws {
        try database.executeUpdate("INSERT INTO t (a) VALUES (1), (2)")
        let sql = "SELECT a FROM t WHERE a >= ?"
        // It is kept from here on.
        #expect(try database.int(forQuery: SQL(unsafe: sql), 1) == 1)
        let outer = try database.executeQuery(SQL(unsafe: sql), 1)
        #expect(try outer.next())
        let inner = try database.executeQuery(SQL(unsafe: sql), 2)
        #expect(try inner.next() && inner[0] as Int == 2)
        inner.close()
        #expect(try outer.next() && outer[0] as Int == 2)
        // Ended by a caller that does not have it.
        database.closeOpenResultSets()
        outer.close()
        let before = database.statementCacheStatistics.hits
        #expect(try database.int(forQuery: SQL(unsafe: sql), 1) == 1)
        #expect(database.statementCacheStatistics.hits == before + 1)
    }

    /// Swift takes these for equal, and SQLite does not.
    @Test func statementsDifferByBytes() throws {
        for name in ["\u{e9}", "e\u{301}", "\u{e9}"] {
            try database.executeUpdate(SQL(unsafe: "INSERT INTO t (a) VALUES ('\(name)')"))
        }
        #expect(try database.int(forQuery: "SELECT count(DISTINCT a) FROM t") == 2)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE a = 'e\u{301}'") == 1)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE a = '\u{e9}'") == 2)
    }

    enum Priority: String, ColumnEncodable {
        case low, high
        var databaseValue: DatabaseValue { .integer(self == .low ? 0 : 1) }
    }

    @Test func customValueIsBound() throws {
        try database.executeUpdate("INSERT INTO t (a) VALUES (?)", Priority.high)
        try database.executeUpdate("INSERT INTO t (a) VALUES (?)", values: [Priority.high])
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE a = 1") == 2)
    }

    @Test func clearedStatementIsNotCached() throws {
        let sql = "SELECT a FROM t"
        let rows = try database.executeQuery(SQL(unsafe: sql))
        database.setAuthorizer { if case .read = $0.kind { .deny } else { .allow } }
        rows.close()
        #expect(throws: DatabaseError.self) { _ = try database.executeQuery(SQL(unsafe: sql)) }
    }

    @Test func columnNameIsCaseInsensitive() throws {
        let rows = try database.executeQuery("SELECT 1 AS \"Überschrift\", 2 AS b")
        #expect(try rows.next())
        #expect(try rows["ÜBERSCHRIFT"] as Int == 1)
        #expect(try rows["B"] as Int == 2)
        #expect {
            _ = try rows["ü"] as Int
        } throws: {
            ($0 as? DatabaseError)?.code == .range
        }
    }

    @Test func outlivingResultSetIsSafe() throws {
        let directory = try TemporaryDirectory()
        let other = Database(path: directory.file("test.db"))
        try other.open(key: .sample("secret"))
        let rows = try other.executeQuery("SELECT 1")
        #expect(try rows.next())
        other.close()
        try other.open(key: .sample("secret"))
        rows.close()
        #expect(try other.int(forQuery: "SELECT 1") == 1)
        #expect(try other.int(forQuery: "SELECT 1") == 1)
    }
}
