import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// How values are passed beside SQL and in it; each call takes all forms.
@Suite struct StatementValuesTests {
    struct Row: Codable {
        let a: Int
        let b: String?
    }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (a, b)")
    }

    /// The same two values in each way, and the SQL for it.
    static let ways: [(sql: SQL, values: StatementValues)] = [
        ("?, ?", [1, "x"]), (":a, :b", ["a": 1, "b": "x"]), ("$a, @b", .optional(Row(a: 1, b: "x"))),
        ("\(1), \("x")", []), ("?, ?", StatementValues([1, "x"] as [any ColumnEncodable])),
        (":a, :b", StatementValues(["a": 1, "b": "x"] as [String: any ColumnEncodable])),
    ]

    @Test(arguments: ways.indices) func everyCallTakesAllValueForms(way: Int) throws {
        let (sql, values) = Self.ways[way]
        try database.executeUpdate("INSERT INTO t VALUES (\(sql: sql))", values: values)
        try database.executeStatements("INSERT INTO t VALUES (\(sql: sql))", values: values)
        let query: SQL = "SELECT \(sql: sql)"
        #expect(try database.executeQuery(query, values: values).fetchAll(Int.self) == [1])
        #expect(try database.fetchAll(Int.self, query, values: values) == [1])
        #expect(try database.fetchOne(Int.self, query, values: values) == 1)
        #expect(try database.value(forQuery: query, values: values) == 1)
        #expect(try database.fetchAll(String.self, "SELECT b FROM t") == ["x", "x"])
    }

    @Test func bytesAreDataOrByteArray() throws {
        let bytes: [UInt8] = [1, 2]
        try database.executeUpdate("INSERT INTO t VALUES (1, ?)", ByteArray(bytes))
        #expect(try database.count(in: "t", where: Column("b") == Data(bytes)) == 1)
        let found: ByteArray? = try database.value(
            forQuery: "SELECT b FROM t WHERE b = \(ByteArray(bytes)) AND b = x'0102'"
        )
        #expect(found?.bytes == bytes)
    }

    @Test func arrayOfBytesInRowIsJSON() throws {
        struct Numbers: Codable, RowDecodable, PersistableRecord {
            static let databaseTableName = "t"
            var a: [UInt8]
        }
        try Numbers(a: [1, 2]).insert(database)
        #expect(try database.string(forQuery: "SELECT a FROM t") == "[1,2]")
        #expect(try database.fetchOne(Numbers.self, "SELECT a FROM t")?.a == [1, 2])
        #expect(throws: DatabaseError.self) { try database.fetchOne(Numbers.self, "SELECT x'0102' AS a") }
    }

    @Test func interpolatedAndPositionalValuesDoNotMix() throws {
        let value = 1
        for run in [
            { try database.executeUpdate("INSERT INTO t VALUES (\(value), ?)", 2) },
            { try database.executeUpdate("INSERT INTO t VALUES (\(value), ?)", values: [2]) },
            { _ = try database.executeQuery("SELECT \(value), ?", 2) },
            { _ = try database.fetchAll(Int.self, "SELECT \(value), :a", values: ["a": 2]) },
            { _ = try database.int(forQuery: "SELECT \(value) + ?", 2) },
            { try database.executeStatements("INSERT INTO t VALUES (\(value), ?)", values: [2]) },
        ] {
            #expect { try run() } throws: { "\($0)".contains("interpolated values") }
        }
        #expect { try database.executeUpdate("INSERT INTO t VALUES (\(value), ?)") } throws: {
            "\($0)".contains("use one of the two")
        }
        #expect { try database.executeUpdate("INSERT INTO t VALUES ('\(value)', 1)") } throws: {
            "\($0)".contains("without quotes")
        }
        #expect { _ = try database.prepare("SELECT \(value)") } throws: { "\($0)".contains("when it runs") }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
    }

    @Test func statementsTakeTheirValuesOneAfterOther() throws {
        try database.executeStatements(
            "INSERT INTO t VALUES (?, ?); DELETE FROM t WHERE a = 5; INSERT INTO t VALUES (?, NULL)",
            values: [1, "x", 2]
        )
        let (first, second) = (3, "y")
        try database.executeStatements(
            "INSERT INTO t VALUES (\(first), \(second)); INSERT INTO t VALUES (\(4), \(nil as Int?))"
        )
        try database.executeStatements(
            "INSERT INTO t VALUES (:a, :b); INSERT INTO t VALUES (:c, :b)",
            values: ["a": 5, "b": "z", "c": 6]
        )
        #expect(try database.fetchAll(Int.self, "SELECT a FROM t ORDER BY a") == [1, 2, 3, 4, 5, 6])
        #expect(try database.fetchAll(String?.self, "SELECT b FROM t ORDER BY a") == ["x", nil, "y", nil, "z", "z"])
        #expect(throws: DatabaseError.self) {
            try database.executeStatements("DELETE FROM t WHERE a = ?", values: [1, 2])
        }
        #expect(throws: DatabaseError.self) {
            try database.executeStatements("DELETE FROM t WHERE a = ? OR a = ?", values: [1])
        }
    }

    @Test func definitionTakesItsValuesAsLiterals() throws {
        let name = "it's"
        try database.createTable(
            "u",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey, .check("id > \(0) AND '?' = '?'")),
                ColumnDefinition("name", .text, .default(sql: "\(name) || \("!")")),
            ],
            constraints: [.check("name <> \("x'); DROP TABLE t; --")")]
        )
        try database.insert(into: "u", ["id": 1])
        #expect(try database.string(forQuery: "SELECT name FROM u") == "it's!")
        #expect(throws: DatabaseError.self) { try database.insert(into: "u", ["id": -1]) }
        #expect(throws: DatabaseError.self) { try database.insert(into: "u", ["name": "x'); DROP TABLE t; --"]) }
        #expect(try database.tableExists("t"))
    }

    @Test func piecesOfSQLKeepTheirValues() throws {
        let filter: SQL = "a > \(1) AND a < \(4)"
        var sql: SQL = "SELECT a FROM t WHERE \(sql: filter)"
        sql.append(" OR a = \(9)")
        sql = sql + " ORDER BY a"
        for number in 0..<10 { try database.executeUpdate("INSERT INTO t (a) VALUES (?)", number) }
        #expect(try database.fetchAll(Int.self, sql) == [2, 3, 9])
        #expect(
            try database.fetchAll(Int.self, "SELECT a FROM t WHERE a IN (\(list: [7, 1, 5])) ORDER BY a") == [1, 5, 7]
        )
        #expect(try database.fetchAll(Int.self, "SELECT a FROM t WHERE a IN (\(list: Set([7, 1])))").count == 2)
        #expect(try database.fetchAll(Int.self, "SELECT a FROM t WHERE a IN (\(list: [] as [Int]))").isEmpty)
    }
}

extension StatementValues {
    /// Of a row that can be encoded.
    fileprivate static func optional(_ row: some Encodable) -> StatementValues { (try? .encoding(row)) ?? [] }
}
