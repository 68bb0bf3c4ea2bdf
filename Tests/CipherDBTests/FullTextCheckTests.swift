import TestSupport
import Testing

@testable import CipherDB

/// Full-text indexes and the tables that they belong to.
@Suite final class FullTextCheckTests: RawKeyFixture {
    static let modules = [Capability.fts4, .fts5].filter { Engine.current.has($0) }.map(\.rawValue)

    @Test(
        .enabled(if: Engine.current.has(.fts5), "this engine has no FTS5"),
        arguments: [
            "(body TEXT)", "(id INTEGER, body TEXT)", "(id TEXT PRIMARY KEY, body TEXT)",
            "(id INTEGER, body TEXT, PRIMARY KEY (id, body))", "(id INT PRIMARY KEY, body TEXT)",
            "(id INTEGER PRIMARY KEY DESC, body TEXT)", "(id INTEGER PRIMARY KEY, body TEXT) WITHOUT ROWID",
        ]
    )
    func tableWithoutStableRowidIsRefused(definition: String) throws {
        let database = try open()
        try database.executeStatements("CREATE TABLE doc \(raw: definition)")
        #expect { try database.createFullTextIndex("found", on: "doc", columns: ["body"]) } throws: {
            "\($0)".contains("INTEGER PRIMARY KEY") && ($0 as? DatabaseError)?.code == .misuse
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%found%'") == 0)
    }

    @Test(
        .enabled(if: Engine.current.has(.fts5), "this engine has no FTS5"),
        arguments: ["id INTEGER PRIMARY KEY", "\"i d\" integer NOT NULL PRIMARY KEY AUTOINCREMENT"]
    )
    func indexSurvivesVacuum(key: String) throws {
        let database = try open()
        try database.executeStatements("ATTACH ':memory:' AS other")
        for schema in ["main", "other"] {
            let table = TableName("doc", in: schema)
            try database.executeStatements("CREATE TABLE \(raw: table.quoted) (\(raw: key), body TEXT)")
            try database.createFullTextIndex("found", on: table, columns: ["body"])
            for word in ["alpha", "beta", "gamma"] { try database.insert(into: table, ["body": word]) }
            try database.delete(from: table, where: Column("body") == "alpha")
        }
        try database.vacuum()
        let found: SQL = "SELECT doc.body FROM doc JOIN found ON found.rowid = doc.rowid WHERE found MATCH 'beta'"
        #expect(try database.fetchAll(String.self, found) == ["beta"])
        #expect(try database.integrityCheck() == [])
        #expect(throws: DatabaseError.self) {
            try database.createFullTextIndex("nothing", on: "nosuch", columns: ["body"])
        }
    }

    /// An index that a program made itself, of a table whose rows get other numbers by VACUUM.
    private func indexed(by module: String, in database: Database) throws {
        let id = module == "fts5" ? "rowid" : "docid"
        try database.executeStatements(
            """
            CREATE TABLE doc (body TEXT);
            CREATE VIRTUAL TABLE "my index"
              USING \(raw: module.uppercased()) (body, content="doc");
            CREATE VIRTUAL TABLE own USING \(raw: module)(body);
            INSERT INTO own VALUES ('alpha');
            """
        )
        for word in ["alpha", "beta", "gamma"] {
            try database.executeUpdate("INSERT INTO doc VALUES (\(word))")
            try database.executeUpdate(
                "INSERT INTO \"my index\" (\(raw: id), body) VALUES (\(database.lastInsertRowID), \(word))"
            )
        }
    }

    @Test(.enabled(if: !modules.isEmpty, "this engine has no full-text search"), arguments: modules)
    func indexOfOtherRowsIsFound(module: String) throws {
        let pool = try DatabasePool(path: path, key: key)
        try pool.write { try self.indexed(by: module, in: $0) }
        #expect(try pool.integrityCheck() == [])
        // A word that the index does not know: only a connection that writes compares words.
        try pool.write { try $0.executeUpdate("UPDATE doc SET body = 'delta' WHERE body = 'gamma'") }
        let problems = try pool.integrityCheck()
        // Since SQLite 3.44 its own check says so of FTS4, too.
        #expect(problems.allSatisfy { $0.contains("my index") } && problems.count { $0.contains("'rebuild'") } == 1)
        // That of SQLite 3.44 says so on a connection that writes only.
        #expect(try pool.inDatabase { try Set(problems).isSubset(of: $0.integrityCheck()) })
        #expect(try pool.inDatabase { !$0.isInTransaction })
        try pool.write { try $0.executeUpdate("INSERT INTO \"my index\" (\"my index\") VALUES ('rebuild')") }
        #expect(try pool.integrityCheck() == [])
        try pool.write { try $0.executeUpdate("DELETE FROM doc WHERE body = 'alpha'") }
        try pool.vacuum()
        #expect(try pool.read { try $0.integrityCheck() }.contains { $0.contains("my index") })
        #expect(try pool.integrityCheck().contains { $0.contains("my index") })
        try pool.close()
        let reader = Database(path: path)
        try reader.open(key: key, flags: .readOnly)
        #expect(try reader.integrityCheck().contains { $0.contains("my index") })
    }

    @Test(.enabled(if: !modules.isEmpty, "this engine has no full-text search"), arguments: modules)
    func checkOfIndexWritesNothing(module: String) async throws {
        let database = try open()
        try indexed(by: module, in: database)
        database.close()
        let queue = try await DatabaseQueue(path: path, key: key)
        let commits = queue.log.commit
        #expect(try await queue.integrityCheck() == [])
        #expect(try await queue.inDatabase { try $0.integrityCheck() } == [])
        #expect(queue.log.commit == commits)
        #expect(try await queue.write { try $0.integrityCheck() } == [])
        #expect(try await queue.read { try $0.fetchAll(String.self, "SELECT body FROM doc") }.count == 3)
    }
}
