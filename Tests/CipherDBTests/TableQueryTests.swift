import CipherDB
import Foundation
import TestSupport
import Testing

/// Rows by typed calls: found, counted, inserted unless they are there.
@Suite struct TableQueryTests {
    struct Note: Codable, RowDecodable, PersistableRecord, Equatable {
        static let databaseTableName = "notes"
        var id: Int64
        var text: String
    }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.createTable(
            "notes",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey), ColumnDefinition("text", .text, .notNull, .unique),
            ]
        )
        for number in 1...9 { try database.insert(into: "notes", ["text": "note \(number)"]) }
    }

    private func ids(_ condition: Condition) throws -> [Int] {
        try database.select(["id"], from: "notes", where: condition).fetchAll(Int.self)
    }

    private struct Pair: TableRecord { static let databaseTableName = "pairs" }
    private struct Free: TableRecord { static let databaseTableName = "free" }
    private struct Missing: TableRecord { static let databaseTableName = "missing" }
    private struct Word: TableRecord { static let databaseTableName = "words" }

    @Test func rowIsFoundByItsPrimaryKey() throws {
        #expect(try Note.fetchOne(database, key: 3) == Note(id: 3, text: "note 3"))
        #expect(try Note.fetchOne(database, key: 30) == nil)
        try database.executeStatements("CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)); CREATE TABLE free (a)")
        for type: any TableRecord.Type in [Pair.self, Free.self, Missing.self] {
            #expect(throws: DatabaseError.self) { try type.exists(database, key: 1) }
        }
        try database.executeStatements(
            "CREATE TABLE words (\"a\"\"b\" TEXT PRIMARY KEY); INSERT INTO words VALUES ('x')"
        )
        #expect(try Word.exists(database, key: "x") && !Word.exists(database, key: "y"))
    }

    @Test func literalIsConditionWithBoundValues() throws {
        let (number, text) = (3, "x' OR 1 = 1 OR text = '")
        #expect(try ids("id = \(number)") == [3])
        #expect(try ids("id = 1 OR id = \(number)" && Column("id") > 2) == [3], "parentheses keep the OR together")
        #expect(try ids("text = \(text)") == [])
        #expect(try ids("id IN (\(list: [2, 4]))") == [2, 4])
        #expect(try database.update("notes", set: ["text": text], where: "id = \(number)") == 1)
        #expect(try ids("text = \(text)") == [3])
        #expect(try database.delete(from: "notes", where: "id = 3") == 1)
    }

    @Test func columnsAreComparedWithEachOther() throws {
        try database.executeStatements("ALTER TABLE notes ADD COLUMN other; UPDATE notes SET other = 5 WHERE id <> 3")
        let (id, other) = (Column("id"), Column("other"))
        #expect(try ids(id == other) == [5] && ids(id < other) == [1, 2, 4] && ids(id > other) == [6, 7, 8, 9])
        #expect(try ids(id <= other) == [1, 2, 4, 5] && ids(id >= other) == [5, 6, 7, 8, 9])
        #expect(try ids(id != other) == [1, 2, 3, 4, 6, 7, 8, 9] && ids(Column("text") == Column("text")).count == 9)
        #expect(throws: DatabaseError.self) { try ids(id == Column("missing")) }
    }

    @Test func missingConditionIsNone() throws {
        func found(_ text: String?, _ least: Int?) throws -> [Int] {
            try ids(Column("id") < 4 && text.map { Column("text") == $0 } && least.map { Column("id") >= $0 })
        }
        #expect(try found(nil, nil) == [1, 2, 3] && found("note 2", nil) == [2] && found(nil, 3) == [3])
        #expect(try found("note 2", 3) == [])
    }

    @Test func searchWithoutConditionFindsAll() throws {
        func found(_ text: String?, _ least: Int?, _ most: Int?) throws -> [Int] {
            let condition =
                text.map { Column("text") == $0 } && least.map { Column("id") >= $0 }
                && most.map { Column("id") <= $0 }
            return try database.select(["id"], from: "notes", where: condition).fetchAll(Int.self)
        }
        #expect(try found(nil, nil, nil).count == 9 && found(nil, 8, nil) == [8, 9] && found(nil, nil, 2) == [1, 2])
        #expect(try found("note 2", nil, nil) == [2] && found(nil, 3, 4) == [3, 4] && found("note 2", 3, 4) == [])
        var condition: Condition?
        for id in [2, 4] { condition = condition || Column("id") == id }
        #expect(try database.select(["id"], from: "notes", where: condition).fetchAll(Int.self) == [2, 4])
        condition = condition && Column("id") > 2
        #expect(try database.count(in: "notes", where: condition) == 1)
        #expect(try ids(Column("id") == 1 || nil) == [1])
    }

    @Test func oneValueOfNothingIsNil() throws {
        #expect(try database.fetchOne(Int.self, "SELECT sum(id) FROM notes WHERE id > ?", 9) == nil)
        #expect(try database.fetchOne(Int.self, "SELECT sum(id) FROM notes") == 45)
        #expect(try database.executeQuery("SELECT max(text) FROM notes WHERE id = 0").fetchOne(String.self) == nil)
        #expect(try database.fetchOne(DatabaseValue.self, "SELECT NULL") == .null)
        #expect(throws: DatabaseError.self) { try database.fetchOne(Int.self, "SELECT 'text', NULL") }
        #expect(throws: DatabaseError.self) { try database.fetchAll(Int.self, "SELECT NULL") }
        #expect(throws: DatabaseError.self) { try database.fetchOne(Note.self, "SELECT NULL AS id, 'x' AS text") }
    }

    @Test func recordsOfTableAreFetched() throws {
        func numbers(_ condition: Condition?, _ order: [Ordering], _ limit: Int?, _ offset: Int) throws -> [Int64] {
            try database.select(from: "notes", where: condition, orderedBy: order, limit: limit, offset: offset)
                .fetchAll(Note.self).map(\.id)
        }
        #expect(try Note.fetchAll(database).count == 9)
        #expect(try numbers(nil, [.descending("id")], 2, 1) == [8, 7])
        #expect(try numbers(Column("id") > 4, [.ascending("text")], nil, 3) == [8, 9])
        #expect(try numbers(Column("id") > 9, [], nil, 0) == [])
        let last = try Note.fetchOne(database, where: "id < 5", orderedBy: [.descending("id")])
        #expect(last == Note(id: 4, text: "note 4"))
        #expect(try Note.fetchOne(database, where: Column("id") == 10) == nil)
        #expect(throws: DatabaseError.self) { try database.select(from: "missing").fetchAll(Note.self) }
    }

    @Test func conditionInSQLHasBoundValues() throws {
        func fetch(_ condition: Condition) throws -> [Int] {
            try database.fetchAll(
                Int.self,
                "SELECT id FROM notes WHERE id < \(9) AND \(condition) ORDER BY id DESC LIMIT \(2)"
            )
        }
        let text = "x' OR 1 = 1 --"
        let sql: SQL = "SELECT \(Column("text") == text || Column("id") == 7)"
        #expect(sql.text == "SELECT ((`text` IS ? OR `id` IS ?))")
        #expect(try fetch(Column("text") == text) == [])
        #expect(try fetch(Column("id") == 9 || Column("id") == 2 || "id = \(3)") == [3, 2], "in parentheses")
        #expect(try fetch("id = \(3) OR id = \(9)") == [3], "in parentheses")
        #expect(try fetch(!Column("id").isIn([8, 7]) && Column("id").between(5, 20)) == [6, 5])
        #expect(try fetch(Column("text").like("%1")) == [1])
    }

    @Test func columnOfConditionInSQLIsNoText() throws {
        let condition = Column("titel") != nil
        let error = #expect(throws: DatabaseError.self) {
            try database.fetchAll(Int.self, "SELECT id FROM notes WHERE \(condition)")
        }
        #expect(error?.message.contains("titel") == true)
        try database.executeStatements("CREATE TABLE odd (\(identifier: "a`b\"c")); INSERT INTO odd VALUES (5)")
        #expect(try database.fetchAll(Int.self, "SELECT * FROM odd AS o WHERE \(Column("a`b\"c") > 4)") == [5])
    }

    @Test func rowsAreCountedAndSkipped() throws {
        #expect(try database.count(in: "notes") == 9)
        #expect(try database.count(in: "notes", where: Column("id").between(3, 5)) == 3)
        #expect(try ids(Column("id").between(8, 20)) == [8, 9])
        #expect(try ids(Column("id").between(5, 3)) == [])
        func page(_ limit: Int?, _ offset: Int) throws -> [Int] {
            try database.select(["id"], from: "notes", orderedBy: [.descending("id")], limit: limit, offset: offset)
                .fetchAll(Int.self)
        }
        #expect(try page(2, 0) == [9, 8] && page(2, 4) == [5, 4] && page(nil, 7) == [2, 1] && page(nil, 9) == [])
        #expect(throws: DatabaseError.self) { try database.count(in: "notes", where: Column("nosuch").between(1, 2)) }
    }

    @Test func existingRowIsNotInserted() throws {
        #expect(try database.insertOrIgnore(into: "notes", ["text": "note 1"]) == nil)
        #expect(try database.insertOrIgnore(into: "notes", ["id": 1, "text": "other"]) == nil)
        #expect(try database.insertOrIgnore(into: "notes", ["text": "new"]) == 10)
        #expect(try database.insertOrIgnore(into: "notes", ["id": 20, "text": "newer"]) == 20)
        #expect(try database.insertOrIgnore(into: "notes", ["text": nil]) == nil)
        #expect(try database.count(in: "notes") == 11)
        #expect(throws: DatabaseError.self) { try database.insertOrIgnore(into: "notes", ["nosuch": 1]) }
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertFindsItsKey() throws {
        try Note(id: 1, text: "changed").upsert(database)
        try Note(id: 11, text: "new").upsert(database)
        #expect(try Note.fetchOne(database, key: 11)?.id == 11)
        #expect(try Note.fetchOne(database, key: 1)?.text == "changed")
        try database.executeStatements("CREATE TABLE pairs (b, a, v, PRIMARY KEY (a, b)); CREATE TABLE free (a)")
        for value in [1, 2] { try database.upsert(into: "pairs", ["a": 1, "b": 2, "v": value]) }
        #expect(try database.fetchAll(Int.self, "SELECT v FROM pairs") == [2])
        #expect { try database.upsert(into: "free", ["a": 1]) } throws: { "\($0)".contains("onConflict") }
    }

    @Test func indexIsCreatedAndDropped() throws {
        func plan() throws -> String {
            // A plan is not run, and so does not notice that the schema has changed.
            database.clearCachedStatements()
            let rows = try database.executeQuery("EXPLAIN QUERY PLAN SELECT id FROM hits WHERE day = 1 AND count > 3")
            defer { rows.close() }
            return try rows.next() ? rows["detail"] : ""
        }
        try database.executeStatements("CREATE TABLE hits (id INTEGER PRIMARY KEY, day, count)")
        try database.createIndex("by \"day\"", on: "hits", columns: ["day", "count"])
        try database.createIndex("by \"day\"", on: "hits", columns: ["day"], ifNotExists: true)
        #expect(try plan().contains("by \"day\""))
        try database.dropIndex("by \"day\"")
        try database.dropIndex("by \"day\"", ifExists: true)
        #expect(throws: DatabaseError.self) { try database.dropIndex("by \"day\"") }
        #expect(try !plan().contains("by \"day\""))
        try database.createIndex("once", on: "hits", columns: ["day"], unique: true)
        try database.insert(into: "hits", ["day": 1])
        #expect(throws: DatabaseError.self) { try database.insert(into: "hits", ["day": 1]) }
    }

    @Test func partialIndexHasLiterals() throws {
        try database.executeStatements("CREATE TABLE mail (id INTEGER PRIMARY KEY, box, subject)")
        let box = "it's \"in\""
        try database.createIndex(
            "inbox",
            on: TableName("mail", in: "main"),
            columns: ["subject"],
            unique: true,
            where: .sql("box = \(box)")
        )
        try database.createIndex(
            "outbox",
            on: "mail",
            columns: ["subject"],
            where: Column("box") == "out" && Column("id") != nil
        )
        for _ in 0..<2 { try database.insert(into: "mail", ["box": "other", "subject": "x"]) }
        try database.insert(into: "mail", ["box": box, "subject": "x"])
        #expect(throws: DatabaseError.self) { try database.insert(into: "mail", ["box": box, "subject": "x"]) }
    }

    @Test func columnIsAdded() throws {
        try database.addColumn(ColumnDefinition("due \"day\"", .real, .default(1.5)), to: "notes")
        #expect(try database.fetchOne(Double.self, "SELECT \(identifier: "due \"day\"") FROM notes") == 1.5)
        #expect(throws: DatabaseError.self) {
            try database.addColumn(ColumnDefinition("id2", .integer, .primaryKey), to: "notes")
        }
    }
}
