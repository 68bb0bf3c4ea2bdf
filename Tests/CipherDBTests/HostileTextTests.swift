import CipherDB
import Foundation
import TestSupport
import Testing

/// SQL, names and values that somebody made to do harm.
final class HostileTextTests: RawKeyFixture {
    private func tables(_ database: Database) throws -> [String] {
        try database.fetchAll(String.self, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    }

    @Test(arguments: [
        "SELECT 1; ALTER TABLE t RENAME TO t2 /* cipherdb_keyring */; ALTER TABLE t2 RENAME TO t; DROP TABLE secrets",
        "SELECT 1; ALTER TABLE t RENAME TO cipherdb_keyring", "SELECT 1; DROP TABLE secrets",
        "SELECT 1; /* */ nonsense; DROP TABLE t",
    ])
    func nothingBehindStatementRuns(sql: String) throws {
        let database = try open()
        try database.executeStatements("CREATE TABLE t (a); CREATE TABLE secrets (a); INSERT INTO secrets VALUES (1)")
        let sql = SQL(unsafe: sql)
        for call in [
            { _ = try database.prepare(sql) }, { try database.validateSQL(sql) }, { try database.executeUpdate(sql) },
            { _ = try database.executeQuery(sql) }, { _ = try database.int(forQuery: sql) },
        ] as [() throws -> Void] {
            #expect { try call() } throws: { "\($0)".contains("more than one statement") }
        }
        #expect(
            try tables(database) == ["secrets", "t"] && database.int(forQuery: "SELECT count(*) FROM secrets") == 1
        )
    }

    @Test(arguments: ["", " ", ";", " ; -- the end", "\n/* ; */", ";;--x\n /**/"])
    func blankTextMayFollow(rest: String) throws {
        let database = try open()
        let quoted = "SELECT ';' || \"a;\" || [a;] FROM (SELECT 1 AS \"a;\")"
        #expect(try database.string(forQuery: SQL(unsafe: quoted + rest)) == ";11")
        #expect(try database.int(forQuery: SQL(unsafe: "SELECT 5" + rest)) == 5)
    }

    @Test func longCommentHidesNoNameFromLockdown() throws {
        let database = try open()
        try database.executeStatements("CREATE TABLE t (a)")
        let comment = "/*" + String(repeating: "x", count: 5000) + ";*/"
        for sql in [
            "ALTER TABLE t RENAME TO \(comment) cipherdb_keyring",
            "SELECT 1; ALTER TABLE t RENAME TO \(comment) [cipherdb_keyring]",
        ] {
            #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: {
                ($0 as? DatabaseError)?.code.primary == .notAuthorized
            }
        }
        #expect(try tables(database) == ["t"])
    }

    @Test func longCommentHidesNoKeyFromErrors() throws {
        let database = try open()
        let comment = "/*" + String(repeating: "x", count: 5000) + "*/"
        for sql in [
            "PRAGMA \(comment) key = 'SECRETKEY", "\(comment) ATTACH 'f' AS g KEY 'SECRETKEY",
            "SELECT 1; ATTACH 'f' AS g KEY SECRETKEY 1",
            "PRAGMA \(comment) key = SECRETKEY SECRETKEY",
        ] {
            #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: { !"\($0)".contains("SECRETKEY") }
        }
    }

    @Test func refusalIsOfItsStatementOnly() throws {
        let database = try open()
        try database.executeStatements("CREATE TABLE t (a)")
        #expect(throws: DatabaseError.self) { try database.executeStatements("PRAGMA temp_store = FILE; SELECT 1") }
        #expect { try database.executeUpdate("SELECT * FROM missing") } throws: { "\($0)".contains("no such table") }
        #expect { try database.executeUpdate("ATTACH '/tmp/vacuum.db' AS v") } throws: {
            "\($0)".contains("attach files")
        }
    }

    @Test(arguments: 500...530) func jsonOfAnyDepthIsValueOrError(depth: Int) throws {
        struct Row: Decodable, RowDecodable { var tags: [String] }
        let database = try open()
        for text in [String(repeating: "[", count: depth), String(repeating: "{\"a\":", count: depth)] {
            #expect(throws: DatabaseError.self) { try database.fetchAll(Row.self, "SELECT \(text) AS tags") }
            #expect(throws: DatabaseError.self) { try database.fetchOne(JSONColumn<[String]>.self, "SELECT \(text)") }
        }
    }

    private enum Role: String, Codable { case user, admin }

    private struct User: Codable, RowDecodable, Equatable {
        var secret: String, role: Role, kind: Role?, name: String?, id: UUID?
    }

    @Test func dottedColumnHidesNoOther() throws {
        let id = UUID()
        let expected = User(secret: "admin", role: .user, kind: .user, name: "Ada", id: id)
        let database = try open()
        let plain: SQL = "SELECT 'admin' AS secret, 'user' AS role, 'user' AS kind, 'Ada' AS name, \(id) AS id"
        #expect(try database.fetchOne(User.self, plain) == expected)
        for column in ["role.", "role.x", "kind.", "kind.x", "name.x", "id.", "id.x", ".", "..", "role..x"] {
            for value in [nil, "admin"] as [String?] {
                #expect(
                    try database.fetchOne(User.self, plain + ", \(value) AS \(identifier: column)") == expected,
                    "\(column)"
                )
            }
        }
    }

    private final class Node: Decodable, RowDecodable {
        var id: Int?
        var parent: Node?
    }

    @Test func recordsInRecordsHaveEnd() throws {
        let database = try open()
        let name = String(repeating: "parent.", count: 8000) + "id"
        #expect(throws: DatabaseError.self) { try database.fetchOne(Node.self, "SELECT 1 AS \(identifier: name)") }
        let node = try database.fetchOne(Node.self, "SELECT 1 AS id, 2 AS \"parent.id\", 3 AS \"parent.parent.id\"")
        #expect(node?.parent?.parent?.id == 3)
    }

    @Test func triggerShowsNoValue() throws {
        let database = try open()
        try database.executeStatements(
            """
            CREATE TABLE s (v); CREATE TRIGGER a BEFORE INSERT ON s WHEN new.v = 1 BEGIN SELECT RAISE(ABORT, 'it''s full'); END
            """
        )
        #expect { try database.executeUpdate("INSERT INTO s VALUES (1)") } throws: { "\($0)".contains("it's full") }
        let trigger: SQL =
            "CREATE TRIGGER b BEFORE INSERT ON s WHEN new.v <> 1 BEGIN SELECT RAISE(ABORT, 'bad ' || new.v); END"
        // SQLite before 3.47 has no expressions there.
        guard (try? database.executeUpdate(trigger)) != nil else { return }
        #expect { try database.executeUpdate("INSERT INTO s VALUES (\("SECRETVALUE"))") } throws: {
            !"\($0)".contains("SECRETVALUE") && ($0 as? DatabaseError)?.code == .constraintTrigger
        }
    }

    @Test(.enabled(if: Engine.current.has(.fts5), "this engine has no FTS5")) func longPatternsAreNotMalformed() throws
    {
        let database = try open()
        try database.executeStatements(
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, text); INSERT INTO notes (text) VALUES ('a b')"
        )
        try database.createFullTextIndex("found", on: "notes", columns: ["text"])
        let word = try #require(FTS5Pattern(matchingPhrase: "a"))
        let other = try #require(FTS5Pattern(matchingPhrase: "c"))
        let both = try #require(FTS5Pattern(matchingAllTokensIn: "a b"))
        var patterns = [word, word, word, word]
        for _ in 0..<200 {
            patterns[0] = patterns[0] && both
            patterns[1] = word || patterns[1]
            patterns[2] = patterns[2].excluding(other)
            patterns[3] = both && patterns[3]
        }
        for pattern in patterns + [(both || other).excluding(other) && both] {
            #expect(try database.int(forQuery: "SELECT count(*) FROM found WHERE found MATCH \(pattern)") == 1)
        }
    }

    @Test(.enabled(if: Engine.current.has(.fts5), "this engine has no FTS5")) func fullTextIndexIsNoOrdinaryTable()
        throws
    {
        let database = try open()
        try database.executeStatements(
            """
            CREATE TABLE notes (id INTEGER PRIMARY KEY, text); CREATE TABLE log (a);
            CREATE TABLE odd (id INTEGER PRIMARY KEY, rowid TEXT, text);
            CREATE TRIGGER notes_insert AFTER INSERT ON notes BEGIN INSERT INTO log VALUES (1); END
            """
        )
        #expect(throws: DatabaseError.self) { try database.dropFullTextIndex("notes") }
        #expect(throws: DatabaseError.self) { try database.dropFullTextIndex("missing") }
        #expect(throws: DatabaseError.self) { try database.createFullTextIndex("found", on: "odd", columns: ["text"]) }
        #expect(throws: DatabaseError.self) {
            try database.createFullTextIndex("rowid", on: "notes", columns: ["text"])
        }
        try database.executeUpdate("INSERT INTO notes (text) VALUES ('x')")
        #expect(try database.int(forQuery: "SELECT count(*) FROM log") == 1)
    }

    @Test(arguments: [".", "-", "e", "--1", "1.1.1", "1e", "+", "1 ", "0x1", "٣"])
    func nonNumberIsNoDecimal(text: String) throws {
        let database = try open()
        #expect(throws: DatabaseError.self) { try database.value(forQuery: "SELECT ?", values: [text]) as Decimal? }
    }

    @Test func keyInPathIsNotShown() {
        #expect { try self.open("file:/nonexistent/q.db?key=SECRETKEY") } throws: { !"\($0)".contains("SECRETKEY") }
    }
}
