import Foundation
import Testing

@testable import CipherDB

/// A `String` that is interpolated where a name is meant would be a text, and the same for each row.
@Suite struct MisplacedNameTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, note TEXT, match, key, by, last, end);
            INSERT INTO t (name) VALUES ('Ada'), ('Bob')
            """
        )
    }

    private static let name = "name"

    private static let refused: [SQL] = [
        "SELECT id FROM t WHERE \(name) = 7", "SELECT id FROM t WHERE 7 = \(name)",
        "SELECT id FROM t WHERE \(name) = \(7)",
        "DELETE FROM t WHERE \(name) > 5", "DELETE FROM t WHERE (\(name) <> 'x')", "DELETE FROM t WHERE NOT \(name)",
        "UPDATE t SET note = 'x' WHERE \(name) IS NOT NULL",
        "DELETE FROM t WHERE id > 0 AND \(name) NOT LIKE 'x' COLLATE NOCASE",
        "SELECT id FROM t WHERE \(name)", "SELECT id FROM t WHERE \(name) IS NULL OR id = 1",
        "SELECT id FROM t where \(name) = x'00'",
        "SELECT id FROM t WHERE \(name) IN (\(list: [1, 2]))", "SELECT id FROM t WHERE \(name) NOT BETWEEN 1 AND 1e3",
        "SELECT id FROM t WHERE id BETWEEN 1 AND 2 AND \(name) = 7", "SELECT id FROM t WHERE (id = 1 OR (\(name) = 7))",
        "SELECT id FROM t WHERE lower(\(name)) = 'x' /* id */ -- id",
        "SELECT id FROM t WHERE (id = 1 AND \(name) = 7) = 1",
        "SELECT a.id FROM t a JOIN t b ON \(name) = \("id") WHERE a.id = 1",
        "SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE \(name) = 'x')",
        "SELECT id FROM t WHERE CASE \(name) WHEN 'x' THEN 1 ELSE 0 END", "SELECT id FROM t ORDER BY \(name)",
        "SELECT id FROM t ORDER BY id, \(name) COLLATE \"NOCASE\" DESC",
        "SELECT id FROM t ORDER BY lower(\(name)) LIMIT 1",
        "SELECT count(*) FROM t GROUP BY \(name)", "SELECT count(*) FROM t GROUP BY id HAVING \(name) > 1 ORDER BY id",
        "SELECT id FROM t WHERE CAST(\(name) AS INTEGER) = 7", "SELECT id FROM t ORDER BY CAST(\(name) AS REAL)",
        "SELECT sum(\(name)) AS total FROM t", "SELECT id, max(CAST(\(name) AS INTEGER)) AS most FROM t",
        "SELECT \(name) FROM t", "SELECT DISTINCT \(name) FROM t", "SELECT id, max(\(name)) FROM t",
        "SELECT id FROM (SELECT id, \(name) FROM t)", "INSERT INTO t (name) SELECT name FROM t WHERE \(name) = 7",
    ]

    @Test(arguments: refused.indices) func constantTermIsRefused(index: Int) throws {
        let sql = Self.refused[index]
        let rows = "SELECT group_concat(id || name || ifnull(note, '-')) FROM t" as SQL
        let before = try database.string(forQuery: rows)
        for run in [
            { try database.executeUpdate(sql) }, { _ = try database.executeQuery(sql) },
            { _ = try database.int(forQuery: sql) }, { _ = try database.fetchAll(Int.self, sql) },
            { try database.executeStatements("SELECT \("x"); \(sql: sql)") },
        ] {
            #expect("\(sql.text)") { try run() } throws: {
                ($0 as? DatabaseError)?.code == .misuse && "\($0)".contains(#"write \(identifier: name)"#)
            }
        }
        #expect(try database.string(forQuery: rows) == before)
    }

    @Test func constantTermOfTypedCallIsRefused() throws {
        let name = "name"
        for run in [
            { _ = try database.select(from: "t", where: "\(name) = 7") },
            { _ = try database.count(in: "t", where: !"\(name) = 7") },
            { try database.delete(from: "t", where: Column("id") > 0 && "\(name) > 5") },
            { try database.update("t", set: ["note": "x"], where: "\(name) IS NOT NULL") },
            { try database.createIndex("i", on: "t", columns: ["id"], where: "\(name) > 5") },
            { _ = try ColumnConstraint.check("\(name) > 5") },
            { _ = try TableConstraint.check("id > 1 OR \(name) > 5") },
        ] {
            #expect { try run() } throws: { ($0 as? DatabaseError)?.code == .misuse }
        }
        #expect(try database.count(in: "t") == 2 && database.count(in: "sqlite_master", where: "type = 'index'") == 0)
    }

    private static let text = "Ada"
    private static let other = "x"
    private static let maybe: String? = "Ada"

    private static let accepted: [SQL] = [
        "SELECT id FROM t WHERE name = \(text)", "SELECT id FROM t WHERE \(text) = name",
        "SELECT id FROM t WHERE \(text) IN (name, note)",
        "SELECT id FROM t WHERE \(text) IN (SELECT name FROM t)",
        "SELECT id FROM t WHERE name BETWEEN \(text) AND \(other)",
        "SELECT id FROM t WHERE (name BETWEEN \(text) AND \(other) AND id = 1) OR name = \(text)",
        "SELECT id FROM t WHERE \(text) BETWEEN name AND note", "SELECT id FROM t WHERE (name, id) = (\(text), 1)",
        "SELECT id FROM t WHERE \(maybe) IS NULL OR name = \(maybe)",
        "SELECT id FROM t WHERE \(true) OR name = \(text)",
        "SELECT id FROM t WHERE \(1) = 1 AND \(maybe) = 'Ada'",
        "SELECT id FROM t WHERE name LIKE \(text) ESCAPE \("!")",
        "SELECT id FROM t WHERE name = \(text) COLLATE NOCASE AND note IS NOT \(other)",
        "SELECT id FROM t WHERE match = \(text) OR key = \(text) OR by = \(text) OR last = \(text) OR end = \(text)",
        "SELECT id FROM t WHERE NOT match OR match LIKE \(text) OR `name` = \(text) OR [name] = \(text) OR \"name\" = \(text)",
        "SELECT id FROM t WHERE instr(\(text), name) OR t.name || \(other) = \(text)",
        "SELECT id FROM t WHERE CASE WHEN name = \(text) AND id = 1 THEN \(other) ELSE \(text) END = note",
        "SELECT id FROM t WHERE (CASE \(text) WHEN name THEN 1 END OR id = 1) = 1",
        "SELECT id FROM t WHERE CAST(\(text) AS INTEGER) = CAST(name AS INTEGER)",
        "SELECT id FROM t ORDER BY CASE WHEN end < \(text) THEN end ELSE 0 END",
        "SELECT \(text) AS kind, max(CAST(name AS INTEGER)) AS most FROM t",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE b.name = \(text))",
        "SELECT id FROM t ORDER BY CASE \(text) WHEN 'name' THEN name ELSE id END, name = \(text) DESC",
        "SELECT id FROM t GROUP BY name = \(text), id HAVING max(name) > \(text) AND count(*) = \(text)",
        "SELECT \(text)", "SELECT \(text) = \(other), lower(\(text))", "SELECT \(text) AS kind, id FROM t",
        "SELECT \(text) || name FROM t",
        "SELECT \(text), id FROM t UNION SELECT \(other), id FROM t", "SELECT group_concat(name, \(other)) FROM t",
        "SELECT ifnull((SELECT name FROM t WHERE id = 9), \(text))",
        "SELECT (SELECT name FROM t WHERE id = 1) = \(text) FROM t",
        "SELECT t.* FROM t, (SELECT \(text) AS word) WHERE name = word",
        "WITH w (word) AS (VALUES (\(text)) UNION SELECT \(other)) SELECT id FROM t JOIN w ON name = word",
        "INSERT INTO t (name, note) SELECT \(text), name FROM t WHERE id < 0",
        "INSERT INTO t (name, note) VALUES (\(text), \(other))",
        "UPDATE t SET name = \(text), note = ifnull(\(other), note) WHERE id = 1", "UPDATE t SET name = \(text)",
        "DELETE FROM t WHERE name = \(other)", "SELECT id FROM t LIMIT 1; ",
    ]

    @Test(arguments: accepted.indices) func termWithColumnIsRun(index: Int) throws {
        let sql = Self.accepted[index]
        #expect(throws: Never.self, "\(sql.text)") { try database.executeUpdate(sql) }
    }

    @Test func valueByPositionMayStandAnywhere() throws {
        let name = "name"
        let sql: SQL = "SELECT id FROM t WHERE ? = 'name' ORDER BY ?"
        for _ in 0..<2 {
            #expect(try database.fetchAll(Int.self, sql, name, name) == [1, 2])
            // The statement that is kept is the same.
            #expect(throws: DatabaseError.self) {
                try database.fetchAll(Int.self, "SELECT id FROM t WHERE \(name) = 'name' ORDER BY \(name)")
            }
        }
    }

    @Test func parametersOfConstantTermsAreCounted() {
        for (sql, expected) in [
            ("SELECT ? AS a, ?, b FROM t WHERE b = ? AND ? = 7 ORDER BY ?, b", [1, 3, 4]), ("SELECT ?", []),
            ("SELECT 1 FROM t WHERE a IS NOT DISTINCT FROM ? AND ? IS DISTINCT FROM 'b'", [1]),
            ("SELECT row_number() OVER (PARTITION BY ?, a ORDER BY ? NULLS LAST) FROM t", [0, 1]),
            ("SELECT count(*) FILTER (WHERE ? = 1), group_concat(a, ? ORDER BY ?) FROM t", [0, 2]),
            ("UPDATE t SET a = ? RETURNING ?, a", [1]),
            ("SELECT 'it''s ?', \"?\", [?], `?` /* ? */ -- ?\n, ? FROM t", [0]),
            ("SELECT 1 WHERE ? = 1; SELECT 1 WHERE a = ? AND ?2 = 1_000", [0, 2]), ("", []), (")))?(((", []),
            ("((( 'WHERE ? = 1", []), ("WHERE ((((? = 1", [0]), ("SELECT \u{0} WHERE é = ? AND ? = :b", [1]),
        ] {
            #expect(Set(ConstantTerms.parameters(of: sql)) == Set(expected), "\(sql)")
        }
    }

    @Test func misspeltIdentifierIsError() throws {
        #expect {
            try database.executeUpdate("DELETE FROM t WHERE \(identifier: "nmae") <> 'x'")
        } throws: {
            "\($0)".contains("no such column: nmae")
        }
        #expect(try database.fetchAll(Int.self, "SELECT id FROM t WHERE \(identifier: "name") = \("Ada")") == [1])
    }
}
