import CipherDB
import Foundation
import TestSupport
import Testing

/// Rows that leave their block.
@Suite struct KeptRowTests {
    struct Player: Codable, RowDecodable, Equatable, Sendable {
        struct Team: Codable, Equatable, Sendable { var id: Int, name: String }
        var id: Int, name: String, born: Date?, tags: [String]?, team: Team?
    }

    private func rows(_ sql: SQL, _ configuration: Configuration = Configuration()) throws -> [Row] {
        let queue = try DatabaseQueue(path: nil, configuration: configuration)
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.fetchAll(Row.self, sql) }
    }

    @Test func rowOutlivesItsDatabase() throws {
        let rows = try rows("SELECT 7 AS id, 'Ada' AS Name, NULL AS none, 8 AS ID UNION ALL SELECT 9, 'Bo', 1.5, 0")
        #expect(rows.map(\.columnNames) == Array(repeating: ["id", "Name", "none", "ID"], count: 2))
        #expect(try rows[0]["id"] == 7 && rows[0]["Id"] == 7 && rows[0][3] == 8)
        #expect(try rows[0]["name"] == "Ada" && rows[1][1] as String == "Bo")
        #expect(try rows[0]["none"] as Int? == nil && rows[1]["none"] == 1.5)
        #expect(try rows[1][2] as DatabaseValue == .real(1.5))
    }

    @Test func columnThatIsMissingThrows() throws {
        let row = try rows("SELECT 'secretvalue' AS a, NULL AS b")[0]
        #expect { try row["c"] as Int } throws: { "\($0)".contains("no column with the name c") }
        for index in [-1, 2, .max] {
            #expect { try row[index] as Int } throws: { "\($0)".contains("no column \(index)") }
        }
        #expect { try row["a"] as Int } throws: {
            "\($0)".contains("column 0 (a) holds text, not Int")
                && ($0 as? DatabaseError)?.message.contains("secret") == false
        }
        #expect { try row["b"] as Int } throws: { "\($0)".contains("column 1 (b) holds null, not Int") }
        let database = Database(path: nil)
        try database.open()
        #expect(throws: DatabaseError.self) { try Row(row: database.executeQuery("SELECT 1")) }
    }

    @Test func rowIsDecodedByKeys() throws {
        let configuration = Configuration { $0.storage.dates = .secondsSince1970 }
        let sql: SQL = """
            SELECT 1 AS id, 'Ada' AS name, 5 AS born, '["x"]' AS tags, \(record: "team"), 2 AS id, 'Reds' AS name
            UNION ALL SELECT 3, 'Bo', NULL, NULL, NULL, NULL, NULL
            """
        let rows = try rows(sql, configuration)
        let team = Player.Team(id: 2, name: "Reds")
        #expect(
            try rows.map { try $0.decode(Player.self) } == [
                Player(id: 1, name: "Ada", born: Date(timeIntervalSince1970: 5), tags: ["x"], team: team),
                Player(id: 3, name: "Bo", born: nil, tags: nil, team: nil),
            ]
        )
        #expect(try rows[0]["team.name"] == "Reds" && rows[0]["born"] == Date(timeIntervalSince1970: 5))
        #expect(try rows[0].decode(Int.self) == 1)
        #expect { try rows[0].decode([String: Date].self) } throws: { $0 is DatabaseError }
    }

    /// What reading gives: the value, or the message of the error.
    private func outcome<Value: ColumnDecodable>(_ type: Value.Type, _ read: () throws -> Value?) -> String {
        do {
            return "\(String(describing: try read()))"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: ["UTF-8", "UTF-16"])
    func valuesReadAsThoseOfResultSet(encoding: String) throws {
        let database = Database(path: nil)
        try database.open()
        try database.executeStatements(SQL(unsafe: "PRAGMA encoding = '\(encoding)'; CREATE TABLE t (a)"))
        var values = [
            "NULL", "0", "-5", "9223372036854775807", "0.1", "1e100", "9e999", "2.0", "''", "'text ü'", "'12'",
            "CAST(x'61ff' AS TEXT)",
            "'a' || char(0) || 'b'", "x''", "x'00ff'", "zeroblob(16)", "randomblob(16)", "'2026-05-01 10:00:00'",
            "'[1]'",
            "'6BA7B810-9DAD-11D1-80B4-00C04FD430C8'",
        ]
        if Engine.current.has(.jsonb) { values.append("jsonb('[1, 2]')") }
        for value in values { try database.executeUpdate(SQL(unsafe: "INSERT INTO t VALUES (\(value))")) }
        let types: [any ColumnDecodable.Type] = [
            Int.self, Int64.self, Int8.self, Bool.self, Double.self, String.self, Data.self, ByteArray.self, UUID.self,
            Date.self,
            URL.self, Decimal.self, DatabaseValue.self, JSONColumn<[Int]>.self, Int?.self, String?.self,
        ]
        func compare<Value: ColumnDecodable>(_ type: Value.Type, _ rows: ResultSet, _ kept: Row) {
            let expected = outcome(type) { try rows["a"] as Value }
            // Twice: reading changes nothing.
            for _ in 1...2 { #expect(outcome(type) { try kept["a"] as Value } == expected) }
        }
        let rows = try database.executeQuery("SELECT a FROM t")
        while let kept = try rows.next(as: Row.self) { for type in types { compare(type, rows, kept) } }
    }

    /// SQLite keeps the text that it makes of a number beside it.
    @Test func threadsReadOneRow() throws {
        let row = try rows("SELECT 9223372036854775807 AS a, 0.1 AS b, 'text' AS c")[0]
        let wrong = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 1...2000 {
                let texts = try? [row["a"] as String, row["b"], row["c"]]
                if texts != ["9223372036854775807", "0.1", "text"] { wrong.add() }
            }
        }
        #expect(wrong.value == 0)
    }
}
