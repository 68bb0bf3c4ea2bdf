import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Databases whose schema needs functions, collations, modules and tokenizers that only their program has.
@Suite(.atTheEnds) struct ProgramSchemaTests {
    /// A schema, and what the command without the program's functions comes to.
    struct Schema: Sendable, CustomTestStringConvertible {
        let name: String
        let sql: String
        /// What stands in the lines of what was not checked; nil where all was.
        var unchecked: String?
        /// Whether only constraints need it, at which SQLite looks since 3.20, and only where it may write.
        var isOfConstraints = false
        /// The exit status of `recover`.
        var recover: Int32 = 0
        var needs: Capability?
        /// Whether the program cannot check it, either.
        var isForeign = false

        var testDescription: String { name }

        /// What the check of a file that is only read does not come to.
        var uncheckedInCopy: String? { isOfConstraints ? nil : unchecked }
        var uncheckedHere: String? { Engine.current.has(.upsert) ? unchecked : uncheckedInCopy }
    }

    static let schemas = [
        Schema(name: "collation", sql: "CREATE TABLE t (a TEXT COLLATE by_length);"),
        Schema(
            name: "index of a collation",
            sql: "CREATE TABLE t (a TEXT COLLATE by_length); CREATE INDEX i ON t (a);",
            unchecked: "by_length",
            recover: 65
        ),
        Schema(
            name: "unique by a collation",
            sql: "CREATE TABLE t (a TEXT COLLATE by_length UNIQUE);",
            unchecked: "by_length",
            recover: 65
        ),
        Schema(
            name: "primary key by a collation",
            sql: "CREATE TABLE t (a TEXT COLLATE by_length PRIMARY KEY, b) WITHOUT ROWID;",
            unchecked: "by_length",
            recover: 65
        ),
        Schema(
            name: "function in an index",
            sql: "CREATE TABLE t (a); CREATE INDEX i ON t (reversed(a));",
            unchecked: "reversed",
            recover: 65
        ),
        Schema(
            name: "function in a partial index",
            sql: "CREATE TABLE t (a); CREATE INDEX i ON t (a) WHERE reversed(a) > '3';",
            unchecked: "reversed",
            recover: 65
        ),
        Schema(
            name: "function in CHECK",
            sql: "CREATE TABLE t (a UNIQUE CHECK (reversed(a) IS NOT NULL));",
            unchecked: "reversed",
            isOfConstraints: true
        ),
        Schema(
            name: "function in CHECK, without rowids",
            sql: "CREATE TABLE t (a PRIMARY KEY, b CHECK (reversed(a) IS NOT NULL)) WITHOUT ROWID;",
            unchecked: "reversed",
            isOfConstraints: true
        ),
        Schema(name: "function in DEFAULT", sql: "CREATE TABLE t (a, b DEFAULT (reversed('x')));"),
        Schema(
            name: "function in a virtual column",
            sql: "CREATE TABLE t (a, b AS (reversed(a)));",
            recover: 65,
            needs: .generatedColumns
        ),
        Schema(
            name: "function in a virtual column with an index",
            sql: "CREATE TABLE t (a, b AS (reversed(a))); CREATE INDEX i ON t (b);",
            unchecked: "reversed",
            recover: 65,
            needs: .generatedColumns
        ),
        Schema(
            name: "function in a stored column",
            sql: "CREATE TABLE t (a, b AS (reversed(a)) STORED);",
            recover: 65,
            needs: .generatedColumns
        ),
        Schema(
            name: "strict table",
            sql: "CREATE TABLE t (a TEXT CHECK (reversed(a) <> ''), n INT DEFAULT 1) STRICT;",
            unchecked: "reversed",
            isOfConstraints: true,
            needs: .strictTables
        ),
        Schema(
            name: "trigger and view",
            sql: """
                CREATE TABLE t (a); CREATE TABLE log (a);
                CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (reversed(new.a)); END;
                CREATE VIEW v AS SELECT reversed(a) AS b FROM t ORDER BY a COLLATE by_length;
                """
        ),
        Schema(
            name: "fts3",
            sql: "CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING fts3 (a, tokenize=words);" + follow("f"),
            unchecked: "words",
            needs: .fts4
        ),
        Schema(
            name: "fts4",
            sql: "CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING fts4 (a, tokenize=words);" + follow("f"),
            unchecked: "words",
            needs: .fts4
        ),
        Schema(
            name: "fts5",
            sql: "CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING fts5 (a, tokenize='words');" + follow("f"),
            unchecked: "words",
            needs: .fts5
        ),
        Schema(
            name: "fts5 of another table",
            sql: """
                CREATE TABLE t (a, id INTEGER PRIMARY KEY);
                CREATE VIRTUAL TABLE f USING fts5 (a, content='t', content_rowid='id', tokenize='words');
                """ + follow("f"),
            unchecked: "words",
            needs: .fts5
        ),
        Schema(
            name: "r-tree",
            sql: """
                CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING rtree (id, low, high);
                CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO f VALUES (new.rowid, new.rowid, new.rowid + 5); END;
                """,
            needs: .rtree
        ),
        Schema(
            name: "module of an extension",
            sql: """
                CREATE TABLE t (a UNIQUE); CREATE TABLE m_node (a); INSERT INTO m_node VALUES (zeroblob(5000));
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_master VALUES ('table', 'm', 'm', 0, 'CREATE VIRTUAL TABLE m USING geometry (a)');
                PRAGMA writable_schema = OFF;
                """,
            unchecked: "geometry",
            isForeign: true
        ),
    ].filter { $0.needs.map(Engine.current.has) ?? true }

    private static func follow(_ index: String) -> String {
        "CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO \(index) (rowid, a) VALUES (new.rowid, new.a); END;"
    }

    private static let rows = """
        INSERT INTO t (a) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
        SELECT substr('value value', 1, 5 + n % 7) || (n * 7919 % 400) FROM n;
        """

    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        _ = try directory.write(DatabaseKey.sampleBytes("secret"), to: "key")
    }

    /// What the program makes on each connection.
    private static let program = Configuration {
        $0.unsafeAllowsAllSQL = true
        $0.prepareDatabase = { database in
            try database.makeFunction(named: "reversed", arguments: 1, isDeterministic: true, isInnocuous: true) {
                if case .text(let text) = $0[0] { String(text.reversed()) } else { nil }
            }
            try database.makeCollation(named: "by_length") { first, second in
                (first.utf8.count, first) < (second.utf8.count, second)
                    ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
            }
            try database.makeTokenizer(named: "words") { text, _ in
                // Not by characters that others cut at.
                text.utf8.indices.filter { text.utf8[$0] == UInt8(ascii: "v") }.map { start in
                    let offset = text.utf8.distance(from: text.utf8.startIndex, to: start)
                    return Token("v", range: offset..<(offset + 1))
                }
            }
        }
    }

    private static func configuration(plaintext: Bool = false) -> Configuration {
        var configuration = program
        configuration.allowsPlaintext = plaintext
        return configuration
    }

    private func make(_ schema: Schema) throws {
        let queue = try DatabaseQueue(path: path, key: .sample("secret"), configuration: Self.configuration())
        try queue.inDatabase { try $0.executeStatements(SQL(unsafe: schema.sql + Self.rows)) }
        try queue.close()
    }

    private func makePlaintext(_ schema: Schema, pageSize: Int) throws {
        let database = Database(path: path, configuration: Self.configuration(plaintext: true))
        try database.open()
        try database.executeStatements(SQL(unsafe: "PRAGMA page_size = \(pageSize); " + schema.sql + Self.rows))
        database.close()
    }

    /// Whether the program finds all its rows in `name`, and nothing wrong.
    private func check(
        _ name: String,
        _ schema: Schema,
        isPlaintext: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let database = Database(
            path: directory.file(name),
            configuration: Self.configuration(plaintext: isPlaintext)
        )
        try database.open(flags: [.readWrite])
        defer { database.close() }
        if !isPlaintext { try database.setKey(.sample("secret")) }
        let rows: String? = try database.string(
            forQuery: "SELECT count(*) || ' ' || count(DISTINCT a) || ' ' || sum(length(a)) FROM t"
        )
        #expect(rows == "400 400 4288", sourceLocation: sourceLocation)
        // By its indexes.
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE a = 'valueXYZ' OR a >= ''") == 400)
        if !schema.isForeign {
            #expect(try database.integrityCheck() == [], sourceLocation: sourceLocation)
        }
        if schema.sql.contains(" USING fts") {
            #expect(
                try database.int(forQuery: "SELECT count(*) FROM f WHERE f MATCH 'v'") == 400,
                sourceLocation: sourceLocation
            )
        }
    }

    private func rekey(
        _ arguments: String,
        _ status: Int32,
        unchecked: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try Program.rekey(arguments + " --key-file key --json", in: directory)
        let words = "\(arguments): \(outcome.output)\(outcome.errors)"
        #expect(outcome.status == status, "\(words)", sourceLocation: sourceLocation)
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let lines = object?["notChecked"] as? [String]
        #expect((lines == nil) == (unchecked == nil), "\(words)", sourceLocation: sourceLocation)
        if let unchecked { #expect(lines?.contains { $0.contains(unchecked) } == true, sourceLocation: sourceLocation) }
    }

    @Test(arguments: schemas) func commandVerifiesWithoutThem(schema: Schema) throws {
        try make(schema)
        try rekey("verify test.db", 0, unchecked: schema.uncheckedHere)
        try rekey("status test.db", 0, unchecked: schema.uncheckedHere)
        let plain = try Program.rekey("verify test.db --key-file key", in: directory)
        #expect(plain.output.contains("not checked: ") == (schema.uncheckedHere != nil), "\(plain.output)")
        #expect(plain.output.contains("problem") == false)
    }

    @Test(arguments: schemas) func commandRestoresWithoutThem(schema: Schema) throws {
        try make(schema)
        #expect(try Program.rekey("backup test.db repository --key-file key", in: directory).status == 0)
        try rekey("restore repository restored.db", 0, unchecked: schema.uncheckedInCopy)
        try check("restored.db", schema)
    }

    @Test(arguments: schemas) func commandDecryptsWithoutThem(schema: Schema) throws {
        try make(schema)
        try rekey("decrypt test.db --yes-write-plaintext", 0, unchecked: schema.uncheckedInCopy)
        try check("test.db", schema, isPlaintext: true)
    }

    @Test(arguments: schemas) func commandEncryptsWithoutThem(schema: Schema) throws {
        try makePlaintext(schema, pageSize: 512)
        try rekey("encrypt test.db", 0, unchecked: schema.uncheckedInCopy)
        try check("test.db", schema)
    }

    @Test(arguments: schemas) func commandMigratesWithoutThem(schema: Schema) throws {
        try make(schema)
        for size in [65536, 2048] {
            try rekey("migrate test.db --page-size \(size)", 0, unchecked: schema.uncheckedInCopy)
            try check("test.db", schema)
        }
    }

    /// What the program alone can compute is left out and named.
    @Test(arguments: schemas) func commandRecoversWithoutThem(schema: Schema) throws {
        try make(schema)
        let outcome = try Program.rekey("recover test.db saved.db --key-file key --json", in: directory)
        #expect(outcome.status == schema.recover, "\(outcome.output)\(outcome.errors)")
        guard schema.recover == 65 else { return try check("saved.db", schema) }
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        )
        let notMade = try #require(object["notMade"] as? [String])
        if notMade == ["i"] { return try check("saved.db", schema) }
        // The rows are all there, in a table without the definition.
        #expect(notMade.first == "t" && object["unassignedRows"] as? Int == 400)
        let text = try Program.rekey("recover test.db again.db --key-file key", in: directory).output
        #expect(text.contains(" t: no such ") && text.contains("DatabaseFile"), "\(text)")
    }

    @Test(arguments: schemas) func programBringsThem(schema: Schema) throws {
        try make(schema)
        var file = DatabaseFile(path: path)
        file.configuration = Self.program
        let key = try DatabaseKey.sample("secret")
        let found = try file.verify(key: key)
        #expect(found.isSound && found.unchecked.isEmpty == !schema.isForeign, "\(found)")
        let saved = try file.recover(key: key, to: directory.file("saved.db"))
        #expect(saved.isComplete, "\(saved)")
        try check("saved.db", schema)
        var change = FormatChange()
        change.pageSize = 8192
        let changed = try file.migrate(key: key, changing: change)
        #expect(changed.unchecked.isEmpty == !schema.isForeign)
        try check("test.db", schema)
    }

    /// A connection that lacks a function does not call a database sound, nor damaged.
    @Test func integrityCheckNamesWhatIsMissing() throws {
        try make(try #require(Self.schemas.first { $0.name == "function in an index" }))
        let queue = try DatabaseQueue(path: path, key: .sample("secret"))
        #expect {
            try queue.integrityCheck()
        } throws: {
            let error = $0 as? DatabaseError
            return error?.code == .error && error?.message.contains("reversed") == true
                && error?.message.contains("prepareDatabase") == true
        }
        try queue.close()
    }

    /// What is wrong in a table is found though another one needs what is missing.
    @Test func damageIsFoundBesideIt() throws {
        try make(try #require(Self.schemas.first { $0.name == "function in an index" }))
        let queue = try DatabaseQueue(path: path, key: .sample("secret"), configuration: Self.configuration())
        try queue.inDatabase { database in
            try database.executeStatements(
                """
                CREATE TABLE other (a, b); INSERT INTO other VALUES (1, 2); CREATE INDEX o ON other (a);
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE INDEX o ON other (b)' WHERE name = 'o';
                PRAGMA writable_schema = OFF;
                """
            )
        }
        try queue.close()
        let outcome = try Program.rekey("verify test.db --key-file key", in: directory)
        // SQLite before 3.33 does not look at the indexes of single tables.
        guard Engine.current.has(.strictTables) else {
            return #expect(outcome.status == 0 && outcome.output.contains("not checked: entries of indexes: "))
        }
        #expect(outcome.status == 65 && outcome.output.contains("row 1 missing from index o"), "\(outcome.output)")
        #expect(outcome.output.contains("unknown function: reversed()"))
    }
}
