import TestSupport
import Testing

@testable import CipherDB

/// Statements that SQLite compiles again, because the schema changed, and then have other columns.
@Suite final class RecompiledColumnsTests: RawKeyFixture {
    /// How a program gets at the rows of `SELECT * FROM t`.
    enum Access: CaseIterable, Sendable {
        case cached, prepared, typed, valued
    }

    /// What happens to the table `t (a, b)`, whose row is (1, 2), and the columns and values that it has then.
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let sql: String
        let row: [(String, DatabaseValue)]
    }

    static let changes = [
        Change(
            testDescription: "added",
            sql: "ALTER TABLE t ADD COLUMN c DEFAULT 3",
            row: [("a", .integer(1)), ("b", .integer(2)), ("c", .integer(3))]
        ),
        Change(testDescription: "dropped", sql: renew("b"), row: [("b", .integer(2))]),
        Change(testDescription: "reordered", sql: renew("b, a"), row: [("b", .integer(2)), ("a", .integer(1))]),
        Change(
            testDescription: "renamed",
            sql: renew("b AS a, a AS b"),
            row: [("a", .integer(2)), ("b", .integer(1))]
        ),
        Change(
            testDescription: "view",
            sql: "ALTER TABLE t RENAME TO s; CREATE VIEW t AS SELECT 4 AS x, b, a FROM s",
            row: [("x", .integer(4)), ("b", .integer(2)), ("a", .integer(1))]
        ),
    ]

    private static func renew(_ columns: String) -> String {
        "CREATE TABLE new AS SELECT \(columns) FROM t; DROP TABLE t; ALTER TABLE new RENAME TO t"
    }

    /// Who changes the schema.
    enum Changer: CaseIterable, Sendable {
        case same, connection, process
    }

    override init() throws {
        try super.init()
        try open().executeStatements("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
    }

    private func change(_ sql: String, _ changer: Changer, _ database: Database) throws {
        switch changer {
        case .same: try database.executeStatements(SQL(unsafe: sql))
        case .connection: try open().executeStatements(SQL(unsafe: sql))
        case .process:
            let shell = try #require(StockShell.ofThisFormat)
            try shell.run(path, key: "key = \"x'\(rawHex)'\"", sql + ";")
        }
    }

    private let rawHex = String(repeating: "5a", count: 32)

    override func open(_ path: String? = nil, _ change: (inout Configuration) -> Void = { _ in }) throws -> Database {
        let database = Database(path: path ?? self.path, configuration: Configuration(change))
        try database.open(key: .raw(hex: rawHex))
        return database
    }

    private func query(_ database: Database, _ statement: Statement, _ access: Access) throws -> ResultSet {
        switch access {
        case .cached: try database.executeQuery("SELECT * FROM t WHERE 1 = ?", values: [1])
        case .typed: try database.executeQuery("SELECT * FROM t WHERE 1 = ?", 1)
        case .prepared: try statement.executeQuery(values: [1])
        case .valued: try statement.executeQuery(1)
        }
    }

    @Test(arguments: changes, Changer.allCases)
    func columnsAreThoseOfTheRows(change: Change, changer: Changer) throws {
        for access in Access.allCases {
            for looksFirst in [true, false] {
                try? open().executeStatements("DROP VIEW IF EXISTS t")
                try open().executeStatements(
                    "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS s; CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)"
                )
                let database = try open()
                let statement = try database.prepare("SELECT * FROM t WHERE 1 = ?")
                let before = try query(database, statement, access)
                #expect(try before.next() && before.columnNames == ["a", "b"])
                before.close()
                try self.change(change.sql, changer, database)
                let names = change.row.map(\.0)
                if looksFirst { #expect(statement.columnNames == names, "\(access)") }
                let rows = try query(database, statement, access)
                if looksFirst {
                    #expect(rows.columnNames == names && rows.columnCount == names.count, "\(access)")
                    for (index, name) in names.enumerated() { #expect(try rows.columnIndex(forName: name) == index) }
                    #expect(throws: DatabaseError.self) { try rows.columnIndex(forName: "nosuch") }
                    #expect(throws: DatabaseError.self) { try rows.int(forColumn: names[0]) }
                }
                #expect(try rows.next(), "\(access)")
                #expect(rows.columnNames == names && rows.columnCount == names.count, "\(access)")
                let values = Dictionary(uniqueKeysWithValues: change.row)
                #expect(try rows.resultDictionary == values, "\(access)")
                for (index, (name, value)) in change.row.enumerated() {
                    #expect(try rows[name] == value && rows[index] == value, "\(access)")
                }
                #expect(try rows.decode([String: Int].self) == values.mapValues { try #require($0.integer) })
                #expect(try !rows.next())
                #expect(rows.columnNames == names && rows.columnCount == names.count, "\(access)")
                database.close()
            }
        }
    }

    @Test func lookingFirstKeepsEveryRow() throws {
        let database = try open()
        try database.executeStatements("INSERT INTO t VALUES (3, 4)")
        let rows = try database.executeQuery("SELECT a FROM t ORDER BY a")
        #expect(rows.columnCount == 1 && rows.columnNames == ["a"])
        #expect(try rows.columnIndex(forName: "A") == 0)
        #expect(try rows.fetchAll(Int.self) == [1, 3])
        let none = try database.executeQuery("SELECT a FROM t WHERE 0")
        #expect(try none.columnNames == ["a"] && !none.next() && none.columnCount == 1)
        let left = try database.executeQuery("SELECT a FROM t")
        #expect(left.columnCount == 1)
        #expect { try left[0] as Int } throws: { ($0 as? DatabaseError)?.code == .misuse }
        #expect(try left.next() && left[0] == 1)
        #expect { try left[1] as Int } throws: { ($0 as? DatabaseError)?.code == .range }
        left.close()
        #expect { try left[0] as Int? } throws: { ($0 as? DatabaseError)?.code == .misuse }
        #expect(throws: DatabaseError.self) { try left.next() }
        #expect(try database.executeQuery("SELECT a FROM t").fetchOne(Int.self) == 1)
    }

    @Test func errorOfLookingFirstIsThrownByNext() throws {
        let database = try open()
        let rows = try database.executeQuery("SELECT a FROM t")
        try open().executeStatements("DROP TABLE t")
        #expect(rows.columnNames == [] && rows.columnCount == 0)
        #expect { try rows.columnIndex(forName: "a") } throws: { ($0 as? DatabaseError)?.code == .error }
        #expect { try rows.next() } throws: { ($0 as? DatabaseError)?.message.contains("no such table: t") == true }
        let statement = try database.prepare("SELECT 1 AS one")
        #expect(statement.columnNames == ["one"])
    }

    @Test(.enabled(if: Engine.current.has(.returning), "this engine has no RETURNING"))
    func statementThatWritesRunsOnce() throws {
        let database = try open()
        let rows = try database.executeQuery("INSERT INTO t VALUES (5, 6) RETURNING a, b")
        #expect(rows.columnNames == ["a", "b"])
        #expect(try rows.next() && rows["b"] == 6)
        #expect(try !rows.next())
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 2)
    }

    @Test func schemaOfOtherConnectionIsSeen() throws {
        let database = try open()
        #expect(try database.names(of: "t") == ["a", "b"] && database.names(of: "u") == [])
        try open().executeStatements("ALTER TABLE t ADD COLUMN c; CREATE TABLE u (x INTEGER PRIMARY KEY)")
        #expect(try database.names(of: "t") == ["a", "b", "c"])
        #expect(try database.names(of: "u") == ["x"])
        #expect(try database.tableExists("u") && database.columnExists("x", inTableWithName: "u"))
    }

    @Test func migrationOfPoolChangesItsReaders() throws {
        let pool = try DatabasePool(path: path, key: .raw(hex: rawHex))
        func columns() throws -> [String] { try pool.read { try $0.executeQuery("SELECT * FROM t").columnNames } }
        for _ in 0..<3 { #expect(try columns() == ["a", "b"]) }
        _ = try pool.inDatabase {
            try $0.migrate([Migration("c") { try $0.addColumn(ColumnDefinition("c", .text), to: "t") }])
        }
        for _ in 0..<3 { #expect(try columns() == ["a", "b", "c"]) }
        #expect(try pool.read { try $0.names(of: "t") } == ["a", "b", "c"])
    }
}

extension DatabaseValue {
    fileprivate var integer: Int? { if case .integer(let value) = self { Int(value) } else { nil } }
}
