import CipherDB
import Foundation
import Testing

@Suite struct SQLFormatTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, note BLOB)")
    }

    @Test(arguments: ["plain", "it's", "x'); DROP TABLE t; --", "\" OR 1=1", "?", ":name", "", "a\0b"])
    func interpolatedValueIsBound(name: String) throws {
        try database.executeUpdate("INSERT INTO t (name) VALUES (\(name))")
        let rows = try database.executeQuery("SELECT name, \(7) AS seven FROM t WHERE name = \(name)")
        #expect(try rows.next())
        #expect(try rows.string(forColumn: "name") == name)
        #expect(try rows.int(forColumn: "seven") == 7)
        #expect(try !rows.next())
    }

    @Test func interpolatedValuesOfEveryKind() throws {
        let nothing: String? = nil
        let sql: SQL = "SELECT \(nothing), \(1.5), \(true), \(Data([1])), \(UInt8(9)), \(nil as Int?)"
        #expect(sql.text == "SELECT ?, ?, ?, ?, ?, ?")
        let rows = try database.executeQuery(sql)
        #expect(try rows.next())
        #expect(try rows.columnIndexIsNull(0) && rows.columnIndexIsNull(5))
        #expect(try rows.double(forColumnIndex: 1) == 1.5 && rows.data(forColumnIndex: 3) == Data([1]))
    }

    @Test func identifiersListsAndSQLInterpolate() throws {
        let odd = "odd \"name\"; --"
        try database.executeUpdate("CREATE TABLE \(identifier: odd) (a)")
        let (table, inMain) = (TableName(odd), TableName(odd, in: "main"))
        #expect(SQL("\(identifier: inMain)").text == "\"main\"." + SQL("\(identifier: table)").text)
        for value in 1...5 {
            try database.executeUpdate("INSERT INTO \(identifier: odd) VALUES (\(value))")
        }
        let condition: SQL = "a IN (\(list: [2, 3, 9])) OR a = \(5)"
        let rows = try database.executeQuery(
            "SELECT count(*) FROM \(identifier: odd) WHERE \(sql: condition) AND a < \(100)"
        )
        #expect(try rows.next())
        #expect(try rows.int(forColumnIndex: 0) == 3)
        #expect(try database.tableExists(odd))
    }

    @Test func valueThatCannotBeStoredRunsNothing() throws {
        #expect(throws: DatabaseError.self) {
            try database.executeUpdate("INSERT INTO t (id) VALUES (\(UInt64.max))")
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
    }

    @Test func quoteWithAccentEndsNoIdentifier() throws {
        try database.executeStatements("CREATE TABLE secrets (a); INSERT INTO secrets VALUES ('marker')")
        let name = "id`\u{301} FROM secrets --"
        #expect(SQL("\(identifier: name)").text.unicodeScalars.count { $0 == "`" } == 4)
        #expect { _ = try database.executeQuery("SELECT t.\(identifier: name) FROM t") } throws: {
            "\($0)".contains("no such column")
        }
    }

    @Test func listWithoutParenthesesIsNamed() throws {
        let database = Database(path: nil)
        try database.open()
        let ids = [1, 2]
        #expect { _ = try database.executeQuery("SELECT 1 WHERE 1 IN \(list: ids)") } throws: {
            "\($0)".contains(#"a list stands in parentheses: IN (\(list: values))"#)
        }
    }
}
