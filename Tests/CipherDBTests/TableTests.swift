import CipherDB
import Foundation
import TestSupport
import Testing

/// Tables by typed calls.
@Suite struct TableTests {
    static let hostile = ["a\"b", "x; DROP TABLE t--", "'", "", "ü\u{301}\"\u{301}", "select", "a.b", "?"]
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
    }

    private func makeNotes() throws {
        try database.createTable("lists", columns: [ColumnDefinition("id", .integer, .primaryKey)])
        try database.createTable(
            "notes",
            columns: [
                ColumnDefinition("id", .integer, .autoincrementingPrimaryKey),
                ColumnDefinition("text", .text, .notNull, .default("it's"), .collate("NOCASE")),
                ColumnDefinition("weight", .real, .default(-1.5), .check("weight < 100")),
                ColumnDefinition("list", .integer, .references("lists", onDelete: .cascade)),
                ColumnDefinition("made", .text, .default(sql: "date('2026-01-02')")),
                ColumnDefinition("seal", .blob, .unique, .default(Data([0, 255]))),
            ],
            constraints: [.unique("text", "weight"), .check("weight IS NOT 13")]
        )
    }

    @Test func constraintsAndDefaultsHold() throws {
        try makeNotes()
        #expect(try database.insert(into: "notes", [:]) == 1)
        let row = try database.select(from: "notes")
        #expect(try row.next())
        #expect(
            try row.resultDictionary == [
                "id": .integer(1), "text": .text("it's"), "weight": .real(-1.5), "list": .null,
                "made": .text("2026-01-02"), "seal": .blob(Data([0, 255])),
            ]
        )
        row.close()
        let broken: [[String: (any ColumnEncodable)?]] = [
            ["text": nil], ["weight": 100], ["weight": 13], ["list": 9], ["seal": Data([0, 255])],
            ["text": "IT'S", "weight": -1.5, "seal": nil],
        ]
        for values in broken {
            #expect { try database.insert(into: "notes", values) } throws: {
                ($0 as? DatabaseError)?.code.primary == .constraint
            }
        }
        try database.insert(into: "lists", ["id": 9])
        #expect(try database.insert(into: "notes", ["list": 9, "text": "in", "seal": nil]) == 2)
        try database.delete(from: "lists", where: Column("id") == 9)
        #expect(try database.fetchAll(Int.self, "SELECT id FROM notes") == [1])
        // The identifier is not given again.
        #expect(try database.insert(into: "notes", ["text": "next", "seal": nil]) == 3)
        #expect(throws: DatabaseError.self) { try database.createTable("notes", columns: []) }
        try database.createTable("notes", columns: [ColumnDefinition("other", .text)], ifNotExists: true)
        try database.dropTable("notes")
        #expect(throws: DatabaseError.self) { try database.dropTable("notes") }
        try database.dropTable("notes", ifExists: true)
    }

    @Test func foreignKeyActionsAreThoseOfSQL() throws {
        try database.createTable("lists", columns: [ColumnDefinition("id", .integer, .primaryKey)])
        let outcomes: [(ForeignKeyAction, Int64??)] = [
            (.noAction, nil), (.restrict, nil), (.cascade, .some(nil)), (.setNull, .some(nil)), (.setDefault, .some(2)),
        ]
        for (action, expected) in outcomes {
            try database.deleteAll(from: "lists")
            for id in 1...2 { try database.insert(into: "lists", ["id": id]) }
            try database.createTable(
                "notes",
                columns: [ColumnDefinition("list", .integer, .default(2), .references("lists", onDelete: action))]
            )
            try database.insert(into: "notes", ["list": 1])
            do {
                try database.delete(from: "lists", where: Column("id") == 1)
                #expect(expected != nil, "\(action)")
                let rows = try database.executeQuery("SELECT list FROM notes")
                if try rows.next() {
                    #expect(try rows.int64(forColumn: "list") == expected!, "\(action)")
                    #expect(try rows.int64(forColumnIndex: 0) == expected!, "\(action)")
                } else {
                    #expect(action == .cascade)
                }
                rows.close()
            } catch let error as DatabaseError where error.code.primary == .constraint {
                #expect(expected == nil, "\(action)")
            }
            try database.dropTable("notes")
        }
    }

    @Test func defaultsAreStoredAsTheyAre() throws {
        let values: [any ColumnEncodable] = [
            Int64.min, Int64.max, 1e300, -Double.infinity, Double.infinity, "a'b\"c?", "", Data(), Data([39]), true,
            UUID(uuidString: "00000000-0000-0000-0000-00000000000A")!,
        ]
        for (index, value) in values.enumerated() {
            let table = TableName("d\(index)")
            try database.createTable(
                table,
                columns: [ColumnDefinition("a", .blob, try .default(value)), ColumnDefinition("b", .blob)]
            )
            try database.insert(into: table, ["b": 1])
            #expect(
                try database.fetchOne(DatabaseValue.self, SQL(unsafe: "SELECT a FROM d\(index)")) == value.databaseValue
            )
        }
        #expect(throws: DatabaseError.self) { try ColumnConstraint.default("a\0b") }
    }

    private func numbers() throws {
        try database.createTable("n", columns: [ColumnDefinition("i", .integer), ColumnDefinition("s", .text)])
        for i in 1...6 { try database.insert(into: "n", ["i": i, "s": i % 2 == 0 ? "even" : nil]) }
    }

    private func found(_ condition: Condition) throws -> [Int] {
        try database.select(["i"], from: "n", where: condition, orderedBy: [.ascending("i")]).fetchAll(Int.self)
    }

    @Test func conditionsSelectRightRows() throws {
        try numbers()
        #expect(try found(Column("i") == 3) == [3])
        #expect(try found(Column("s") == nil) == [1, 3, 5])
        #expect(try found(Column("s") == String?.none) == [1, 3, 5])
        #expect(try found(Column("s") != nil) == [2, 4, 6])
        #expect(try found(Column("s") != "even") == [1, 3, 5])
        #expect(try found(Column("i") != 1) == [2, 3, 4, 5, 6])
        #expect(try found(Column("i") < 3) == [1, 2])
        #expect(try found(Column("i") <= 3) == [1, 2, 3])
        #expect(try found(Column("i") > 4) == [5, 6])
        #expect(try found(Column("i") >= 4) == [4, 5, 6])
        #expect(try found(Column("i").isIn([1, 6, 9])) == [1, 6])
        #expect(try found(Column("i").isIn([])) == [])
        #expect(try found(!Column("i").isIn([])).count == 6)
        #expect(try found(!Column("s").isIn(["even"])) == [1, 3, 5])
        #expect(try found(Column("s").isIn([String?.none])) == [1, 3, 5])
        #expect(try found(!Column("s").isIn([nil, "odd"])) == [2, 4, 6])
        #expect(try found(Column("s").isIn([Double.nan])) == [])
        #expect(try found(!Column("s").isIn([Double.nan])).count == 6)
        // A NaN, which SQLite stores as NULL, equals nothing.
        #expect(try found(Column("s") == Double.nan) == [])
        #expect(try found(Column("s") != Double.nan).count == 6)
        #expect(try found(Column("s").like("ev%")) == [2, 4, 6])
        #expect(try found(Column("i") == 1 || Column("i") == 2 && Column("s") == nil) == [1])
        #expect(try found((Column("i") == 1 || Column("i") == 2) && Column("s") != nil) == [2])
        #expect(try found(.sql("i % \(3) = \(0) OR i = 1") && Column("i") > 1) == [3, 6])
        #expect(
            try database.select(["i"], from: "n", orderedBy: [.ascending("s"), .descending("i")], limit: 4)
                .fetchAll(Int.self) == [5, 3, 1, 6]
        )
    }

    /// SQLite would take the name for a text: `"nosuch" IS NOT NULL` is true of every row.
    @Test func misspeltColumnIsError() throws {
        try numbers()
        let conditions: [Condition] = [
            Column("nosuch") != nil, Column("nosuch") == nil, Column("nosuch") != 1, Column("nosuch") > 1,
            Column("nosuch").like("%"), Column("nosuch").isIn(["nosuch"]),
            Column("i") == nil || Column("nosuch") == "nosuch",
        ]
        for condition in conditions {
            #expect(throws: DatabaseError.self) { try database.delete(from: "n", where: condition) }
            #expect(throws: DatabaseError.self) { try database.update("n", set: ["i": 1], where: condition) }
            #expect(throws: DatabaseError.self) { try database.select(from: "n", where: condition) }
        }
        #expect(throws: DatabaseError.self) { try database.select(["nosuch"], from: "n") }
        #expect(throws: DatabaseError.self) { try database.select(from: "n", orderedBy: [.ascending("nosuch")]) }
        #expect(throws: DatabaseError.self) { try database.update("n", set: ["nosuch": 1], where: Column("i") == nil) }
        #expect(throws: DatabaseError.self) { try database.insert(into: "n", ["nosuch": 1]) }
        #expect(throws: DatabaseError.self) { try database.createIndex("x", on: "n", columns: ["nosuch"]) }
        #expect(try found(Column("i").isIn([1, 2, 3, 4, 5, 6])).count == 6)
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertWithoutIDKeepsRowid() throws {
        struct Row: Codable, RowDecodable, PersistableRecord, Equatable {
            static let databaseTableName = "t"
            var id: Int?, uid: String, v: Int?
        }
        try database.executeStatements(
            "CREATE TABLE t (ID INTEGER PRIMARY KEY, uid UNIQUE, v); INSERT INTO t VALUES (9, 'x', 9)"
        )
        try Row(id: nil, uid: "a", v: 1).upsert(database, onConflict: "uid")
        try Row(id: nil, uid: "a", v: nil).upsert(database, onConflict: "uid")
        let rows = try database.fetchAll(Row.self, "SELECT * FROM t ORDER BY ID")
        #expect(rows == [Row(id: 9, uid: "x", v: 9), Row(id: 10, uid: "a", v: nil)])
        #expect(try database.select(from: "t", where: Column("uid") == "a").fetchOne(Row.self)?.id == 10)
    }

    @Test func localizedDescriptionIsMessage() throws {
        let errors: [any Error] = [
            KeyError(.wrongKey), MigrationError(.duplicateName, path: nil, step: "x"),
            DatabaseError(code: .busy, message: "x"),
            MalformedKey.recoveryCodeTooLong, MalformedKey.emptyPassphrase,
            UnusableCipherFormat.rawKeyWithoutAuthentication,
            UnusablePassphraseDerivation.impossible(.pbkdf2SHA256(iterations: 0)),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
        let missing = #expect(throws: KeySourceError.self) {
            try KeySource.environment("CIPHERDB_NOT_SET").readPassphrase()
        }
        #expect(missing?.localizedDescription.contains("CIPHERDB_NOT_SET") == true)
    }

    @Test func updateAndDeleteReturnCounts() throws {
        try numbers()
        #expect(try database.update("n", set: ["s": "odd"], where: Column("s") == nil) == 3)
        #expect(try database.update("n", set: ["s": nil], where: Column("s") == "none") == 0)
        #expect(try database.update("n", set: ["i": 60, "s": nil], where: Column("i") == 6) == 1)
        #expect(try found(Column("s") == nil) == [60])
        #expect(try database.updateAll("n", set: ["s": "all"]) == 6)
        #expect(try database.delete(from: "n", where: Column("i") <= 2) == 2)
        #expect(try database.deleteAll(from: "n") == 4)
        #expect(throws: DatabaseError.self) { try database.updateAll("n", set: [:]) }
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertInsertsOrChanges() throws {
        try database.createTable(
            "t",
            columns: [ColumnDefinition("k", .text, .primaryKey), ColumnDefinition("v", .integer)]
        )
        try database.upsert(into: "t", ["k": "a", "v": 1], onConflict: "k")
        try database.upsert(into: "t", ["k": "a", "v": 2], onConflict: "k")
        struct Row: Codable, PersistableRecord {
            static let databaseTableName = "t"
            var k: String, v: Int?
        }
        try Row(k: "b", v: 3).upsert(database, onConflict: "k")
        try Row(k: "b", v: nil).upsert(database, onConflict: "k")
        try database.upsert(into: "t", ["k": "a"], onConflict: "k")
        #expect(try database.fetchAll(Int?.self, "SELECT v FROM t ORDER BY k") == [2, nil])
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertReturnsRowid() throws {
        try database.executeStatements(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE, v); INSERT INTO t VALUES (7, 'old', 0), (70, 'last', 0);
            CREATE TABLE pairs (a TEXT DEFAULT 'x', b, v, oid, rowid, UNIQUE (a, b));
            CREATE TABLE keyed (k PRIMARY KEY, v) WITHOUT ROWID;
            CREATE TABLE numbered (n INTEGER PRIMARY KEY, v) WITHOUT ROWID;
            """
        )
        #expect(try database.upsert(into: "t", ["k": "old", "v": 1], onConflict: "k") == 7)
        #expect(database.changes == 1)
        #expect(try database.upsert(into: "t", ["k": "new", "v": 1], onConflict: "k") == 71)
        // Nothing to change.
        #expect(try database.upsert(into: "t", ["k": "old"], onConflict: "K") == 7)
        #expect(try database.upsert(into: "t", ["k": "newer"], onConflict: "k") == 72)
        #expect(try database.upsert(into: "t", ["k": nil], onConflict: "k") == 73)
        #expect(try database.upsert(into: "t", ["k": nil], onConflict: "k") == 74)
        #expect(try database.upsert(into: "t", ["id": 7]) == 7)
        #expect(try database.upsert(into: "t", ["id": nil, "k": "old", "v": 2], onConflict: "k") == 7)
        #expect(!database.isInTransaction)
        // Columns that take the names of the rowid, and a default that conflicts.
        #expect(try database.upsert(into: "pairs", ["b": 1, "rowid": 50], onConflict: "a", "b") == 1)
        #expect(try database.upsert(into: "pairs", ["b": 2, "rowid": 60], onConflict: "a", "b") == 2)
        #expect(try database.upsert(into: "pairs", ["b": 1], onConflict: "a", "b") == 1)
        #expect(try database.upsert(into: "pairs", ["b": 1, "v": 3], onConflict: "a", "b") == 1)
        #expect(try database.count(in: "pairs") == 2)
        // Without a rowid it is that of no other table.
        #expect(try database.upsert(into: "keyed", ["k": "a", "v": 1]) == nil)
        #expect(try database.upsert(into: "keyed", ["k": "a"]) == nil)
        #expect(try database.upsert(into: "numbered", ["n": 5, "v": 1]) == 5)
        #expect(try database.upsert(into: "numbered", ["n": 5]) == 5)
    }

    @Test(.enabled(if: !Engine.current.has(.upsert), "this engine has upsert"))
    func missingUpsertHasAdvice() throws {
        try numbers()
        #expect { try database.upsert(into: "n", ["i": 1], onConflict: "i") } throws: {
            "\($0)".contains("upsert needs SQLite 3.24")
        }
    }

    @Test(arguments: hostile)
    func namesAreNeverSQL(name: String) throws {
        try database.executeStatements("CREATE TABLE t (kept)")
        let table = TableName(name + "t2")
        let column = name + "c"
        try database.createTable(
            table,
            columns: [ColumnDefinition(column, .text, .primaryKey), ColumnDefinition("other", .text)],
            constraints: [.unique("other", column)]
        )
        try database.insert(into: table, [column: "x'y", "other": name])
        #expect(try database.update(table, set: ["other": "z"], where: Column(column) == "x'y") == 1)
        let rows = try database.select(
            [column, "other"],
            from: table,
            where: Column(column).like("x%"),
            orderedBy: [.descending(column)]
        )
        #expect(try rows.next())
        #expect(try rows[column] == "x'y")
        rows.close()
        #expect(try database.delete(from: table, where: Column(column) == "x'y") == 1)
        try database.dropTable(table)
        #expect(try database.fetchAll(String.self, "SELECT name FROM sqlite_master WHERE type = 'table'") == ["t"])
    }

    @Test func tablesOfAttachedDatabasesAreNamed() throws {
        try database.executeStatements("ATTACH ':memory:' AS \"other one\"; CREATE TABLE t (a)")
        let table = TableName("t", in: "other one")
        try database.createTable(table, columns: [ColumnDefinition("a", .integer)], withoutRowID: false)
        try database.insert(into: table, ["a": 1])
        #expect(try database.fetchAll(Int.self, "SELECT count(*) FROM main.t") == [0])
        #expect(try database.select(from: table).fetchAll(Int.self) == [1])
        try database.createTable("w", columns: [ColumnDefinition("a", .text, .primaryKey)], withoutRowID: true)
        #expect(throws: DatabaseError.self) { try database.fetchAll(Int.self, "SELECT rowid FROM w") }
    }

    @Test func rowsOfSameColumnsAreCompiledOnce() throws {
        try numbers()
        let before = database.statementCacheStatistics
        for i in 0..<100 { try database.insert(into: "n", ["s": "x", "i": i]) }
        #expect(database.statementCacheStatistics.misses - before.misses <= 1)
    }
}
