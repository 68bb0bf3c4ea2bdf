import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// A database of somebody else's, who wrote its schema.
@Suite final class HostileSchemaTests: RawKeyFixture {
    private static func isSince(_ version: String) -> Bool {
        Engine.current.sqliteVersion.compare(version, options: .numeric) != .orderedAscending
    }

    /// What a schema may be made to call a function by, and the statement that then calls it.
    private static let viewsAndTriggers = [
        ("CREATE VIEW v AS SELECT spy(a) FROM t", "SELECT * FROM v"),
        ("CREATE VIEW v AS SELECT a FROM t WHERE spies(a)", "SELECT count(*) FROM v"),
        ("CREATE TRIGGER w AFTER INSERT ON t BEGIN SELECT spy(new.a); END", "INSERT INTO t VALUES (2, 2)"),
        ("CREATE VIEW v AS SELECT (SELECT SPY(a) FROM t)", "SELECT * FROM (SELECT * FROM v)"),
    ]
    private static let expressions = [
        ("CREATE TABLE u (a, b DEFAULT (spy(1)))", "INSERT INTO u (a) VALUES (1)"),
        ("CREATE TABLE u (a CHECK (spy(a)))", "INSERT INTO u VALUES (1)"),
        ("CREATE INDEX i ON t (spy(a))", "INSERT INTO t VALUES (2, 2)"),
        ("CREATE INDEX i ON t (a) WHERE spy(a)", "INSERT INTO t VALUES (2, 2)"),
        ("CREATE TABLE u (a, b AS (spy(a)))", "INSERT INTO u VALUES (1)"),
    ]

    /// Makes the hostile schema, then opens the file as a program that has a function of that name. Returns the calls.
    private func calls(_ schema: String, _ statement: String, isInnocuous: Bool) throws -> Int {
        let hostile = try open()
        let calls = Lock(0)
        func makeFunctions(_ database: Database, isInnocuous: Bool) throws {
            try database.makeFunction(named: "spy", arguments: 1, isDeterministic: true, isInnocuous: isInnocuous) {
                calls.withLock { $0 += 1 }
                return $0[0]
            }
            try database.makeAggregate(
                named: "spies",
                arguments: 1,
                isInnocuous: isInnocuous,
                initial: { 0 },
                step: { _, _ in calls.withLock { $0 += 1 } },
                result: { $0 }
            )
        }
        try makeFunctions(hostile, isInnocuous: true)
        try hostile.executeStatements(SQL(unsafe: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1); \(schema)"))
        hostile.close()
        let database = try open()
        try makeFunctions(database, isInnocuous: isInnocuous)
        #expect(try database.int(forQuery: "SELECT spy(7)") == 7)
        calls.withLock { $0 = 0 }
        if isInnocuous {
            try database.executeStatements(SQL(unsafe: statement))
        } else {
            #expect(throws: DatabaseError.self) { try database.executeStatements(SQL(unsafe: statement)) }
        }
        return calls.withLock { $0 }
    }

    @Test(arguments: viewsAndTriggers)
    func noViewOrTriggerCallsFunction(schema: String, statement: String) throws {
        #expect(
            try calls(
                schema.replacing("WHERE spies(a)", with: "GROUP BY a HAVING spies(a)"),
                statement,
                isInnocuous: false
            ) == 0
        )
    }

    @Test(.enabled(if: isSince("3.31"), "SQLite before 3.31 has no SQLITE_DIRECTONLY"), arguments: expressions)
    func noDefaultCheckOrIndexCallsFunction(schema: String, statement: String) throws {
        #expect(try calls(schema, statement, isInnocuous: false) == 0)
    }

    @Test func innocuousFunctionIsCalledBySchema() throws {
        let (schema, statement) = Self.viewsAndTriggers[0]
        #expect(try calls(schema, statement, isInnocuous: true) == 1)
    }

    @Test func triggersKeepFullTextIndex() throws {
        let database = try open()
        try database.executeStatements(
            """
            CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING fts4(a);
            CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO f VALUES (new.a); END;
            INSERT INTO t VALUES ('one two');
            """
        )
        #expect(try database.int(forQuery: "SELECT count(*) FROM f WHERE f MATCH 'two'") == 1)
    }

    /// As the schema may have them where the program says so.
    @Test func trustedSchemaSearchesFullText() throws {
        let database = try open { $0.trustsSchema = true }
        try database.executeStatements(
            """
            CREATE VIRTUAL TABLE f USING fts4(a); INSERT INTO f VALUES ('one two');
            CREATE VIEW v AS SELECT snippet(f) AS s FROM f WHERE f MATCH 'two';
            """
        )
        #expect(try database.string(forQuery: "SELECT s FROM v") == "one <b>two</b>")
    }

    @Test(.enabled(if: isSince("3.41"), "SQLite before 3.41 has no schema that need not be trusted"))
    func schemaIsNotTrusted() throws {
        #expect(try open().int(forQuery: "PRAGMA trusted_schema") == 0)
        let plain = Database(path: nil)
        try plain.open()
        #expect(try plain.int(forQuery: "PRAGMA trusted_schema") == 0)
    }

    @Test(.enabled(if: isSince("3.26"), "SQLite before 3.26 has no SQLITE_DBCONFIG_DEFENSIVE"))
    func noShadowTableIsWritten() throws {
        let make = "CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts4(a); INSERT INTO f VALUES ('one')"
        let write = "UPDATE f_content SET c0a = 'two'"
        let database = try open()
        try database.executeStatements(SQL(unsafe: make))
        #expect(throws: DatabaseError.self) { try database.executeUpdate(SQL(unsafe: write)) }
        #expect(throws: DatabaseError.self) { try database.executeUpdate("DROP TABLE f_content") }
        database.close()
        let lax = try open { $0.unsafeAllowsAllSQL = true }
        try lax.executeStatements(SQL(unsafe: make))
        try lax.executeUpdate(SQL(unsafe: write))
    }

    static let hasPageTable: Bool = {
        let database = Database(path: nil, configuration: Configuration { $0.unsafeAllowsAllSQL = true })
        guard (try? database.open()) != nil else { return false }
        return (try? database.executeQuery("SELECT count(*) FROM sqlite_dbpage").next()) != nil
    }()

    @Test(
        .enabled(if: hasPageTable, "this engine has no sqlite_dbpage"),
        arguments: [
            "SELECT data FROM sqlite_dbpage", "SELECT count(*) FROM main.SQLITE_DBPAGE", "DELETE FROM sqlite_dbpage",
            "UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 1",
            "INSERT INTO sqlite_dbpage VALUES (1, zeroblob(4096), 'main')",
            "CREATE VIRTUAL TABLE pages USING SQLite_DBPage",
        ]
    )
    func tableOfPagesIsRefused(sql: String) throws {
        let database = try open()
        #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: {
            isRefusal($0) || "\($0)".lowercased().contains("no such module: sqlite_dbpage")
                || "\($0)".lowercased().contains("no such table: ")
        }
    }

    /// A file may have such a table under another name.
    @Test(.enabled(if: hasPageTable, "this engine has no sqlite_dbpage")) func renamedTableOfPagesIsRefused() throws {
        let lax = try open { $0.unsafeAllowsAllSQL = true }
        try lax.executeStatements("CREATE VIRTUAL TABLE pages USING sqlite_dbpage(x)")
        #expect(try lax.int(forQuery: "SELECT count(*) FROM pages") != nil)
        lax.close()
        #expect(throws: DatabaseError.self) { try open().int(forQuery: "SELECT count(*) FROM pages") }
    }
}
