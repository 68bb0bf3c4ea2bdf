import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Every string that the API takes, given as somebody would who wants it to be SQL.
@Suite struct InjectionTests {
    static let strings = [
        "'; DROP TABLE t; --", "\"; DROP TABLE t; --", "`; DROP TABLE t; --", "]; DROP TABLE t; --",
        "x'); DROP TABLE t; --", "x\"); DROP TABLE t; --", "t; DROP TABLE t", "\u{301}\"; DROP TABLE t; --",
        "'' OR 1 = 1", "%s", "%n%n", "a\0'; DROP TABLE t; --", "x' KEY ''; DROP TABLE t; --", "?1", ":a", "",
        "\u{fffd}",
    ]

    let directory: TemporaryDirectory
    let database: Database
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        database = Database(path: directory.file("test.db"))
        // A raw key: a derivation for each string would take most of the time.
        key = try .random()
        try database.open(key: key)
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    }

    /// Calls that take `text` for a name, a value or a path; each may refuse it.
    private func calls(_ text: String) -> [(String, () throws -> Void)] {
        let other = directory.file("other.db")
        return [
            ("savepoint", { try database.startSavePoint(withName: text) }),
            ("rollback to savepoint", { try database.rollbackToSavePoint(withName: text) }),
            ("release savepoint", { try database.releaseSavePoint(withName: text) }),
            ("table", { _ = try database.tableExists(text) }),
            ("table's schema", { _ = try database.tableSchema(text).next() }),
            ("column", { _ = try database.columnExists(text, inTableWithName: "t") }),
            ("column's table", { _ = try database.columnExists("a", inTableWithName: text) }),
            ("checkpoint", { _ = try database.checkpoint(.passive, name: text) }),
            ("attach", { try database.attach(other, as: text, key: key) }),
            ("attached path", { try database.attach(directory.path + "/" + text, as: "o", key: key) }),
            ("plaintext", { try database.attachPlaintext(other, as: text) }),
            ("function", { try database.makeFunction(named: text, arguments: 1) { _ in 1 } }),
            ("collation", { try database.makeCollation(named: text) { _, _ in .orderedSame } }),
            ("tokenizer", { try database.makeTokenizer(named: text) { _, _ in [] } }),
            ("blob", { try database.openBlob(inTable: text, column: text, row: 1, schema: text).close() }),
            ("value", { try database.executeUpdate("UPDATE t SET a = ?", text) }),
            (
                "named value",
                { try database.executeUpdate("UPDATE t SET a = :a", values: ["a": text]) }
            ),
            (
                "name of a value",
                { try database.executeUpdate("UPDATE t SET a = :a", values: [text: 1]) }
            ),
            ("interpolated value", { try database.executeUpdate("UPDATE t SET a = \(text)") }),
            ("identifier", { try database.executeUpdate("UPDATE t SET \(identifier: text) = 1") }),
            ("path", { _ = try DatabaseQueue(path: directory.path + "/" + text, key: key) }),
        ]
    }

    /// A passphrase is derived, so that each of these takes its time.
    @Test(arguments: Extent.isComplete ? strings : Extent.share([strings[0], strings[1], strings[12]]))
    func noPassphraseBecomesSQL(text: String) throws {
        try? database.attach(directory.file("other.db"), as: "o", key: .passphrase(text))
        _ = try? DatabaseQueue(path: directory.file("keyed.db"), key: .passphrase(text))
        let made = Database(path: directory.file("set.db"))
        try made.open()
        try? made.setKey(text)
        #expect(try database.tableExists("t"))
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 1)
    }

    @Test(arguments: strings)
    func noStringBecomesSQL(text: String) throws {
        for (name, call) in calls(text) {
            try? call()
            #expect(try database.tableExists("t"), "\(name)")
            #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 1, "\(name)")
            #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master") == 1, "\(name)")
        }
        // What names could be given is nothing but names.
        while database.isInTransaction { try database.rollback() }
        database.close()
        try database.open(key: key)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 1)
    }

    /// Typed calls that name `text` and are refused, because there is no such thing in the table `t`.
    private func refused(_ text: String) -> [(String, () throws -> Void)] {
        let name = TableName(text)
        return [
            ("drop", { try database.dropTable(name) }),
            ("drop in a schema", { try database.dropTable(TableName("t", in: text)) }),
            ("insert into", { try database.insert(into: name, ["a": 1]) }),
            ("column of an insert", { try database.insert(into: "t", [text: 1]) }),
            ("conflict", { try database.upsert(into: "t", ["a": 1], onConflict: text) }),
            ("select from", { _ = try database.select(from: name).next() }),
            ("select", { _ = try database.select([text], from: "t").next() }),
            ("order", { _ = try database.select(from: "t", orderedBy: [.ascending(text)]).next() }),
            ("update", { try database.update(name, set: ["a": 2], where: Column("a") == 1) }),
            ("column of an update", { try database.updateAll("t", set: [text: 2]) }),
            ("column of a condition", { try database.delete(from: "t", where: Column(text) == 1) }),
            ("column that is NULL", { try database.delete(from: "t", where: Column(text) != nil) }),
            ("column of a list", { try database.delete(from: "t", where: Column(text).isIn([1, text])) }),
            ("delete", { try database.deleteAll(from: name) }),
            ("definition", { try database.createTable("u", columns: [.init("b", .text, .collate(text))]) }),
            (
                "constraint",
                { try database.createTable("u", columns: [.init("b", .text)], constraints: [.unique(text)]) }
            ),
        ]
    }

    @Test(arguments: strings)
    func noStringOfTypedCallBecomesSQL(text: String) throws {
        for (name, call) in refused(text) {
            #expect(throws: DatabaseError.self, "\(name)") { try call() }
            #expect(try database.int(forQuery: "SELECT a FROM t") == 1, "\(name)")
            #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master") == 1, "\(name)")
        }
        // Values that are compared, and patterns.
        for condition in [
            Column("a") == text, Column("a").like(text), Column("a").isIn([text]), !(Column("a") != text),
        ] {
            #expect(try database.delete(from: "t", where: condition) == 0)
        }
        let change = Migration(text) { try $0.insert(into: "t", ["a": text]) }
        #expect(try database.migrate([change]) == [text] && database.completedMigrations.map(\.name) == [text])
        #expect(try database.delete(from: "t", where: Column("a") == text) == 1)
        if text.utf8.contains(0) { return }
        // Where it can be a name, a default and a reference, that is what it is.
        try database.createTable(
            TableName(text),
            columns: [.init(text, .text, .default(text)), .init("r", .text, .references(text, column: text))],
            constraints: [.primaryKey(text)]
        )
        try database.insert(into: TableName(text), [:])
        let rows = try database.select([text], from: TableName(text))
        #expect(try rows.next() && rows.string(forColumnIndex: 0) == text)
        rows.close()
        try database.dropTable(TableName(text))
        #expect(try database.int(forQuery: "SELECT a FROM t") == 1)
    }

    /// The names in a database of somebody else's go through the statements with which `rekey` copies and salvages it.
    @Test func copiedNamesAreNotSQL() throws {
        let names = Self.strings.filter { !$0.utf8.contains(0) && !$0.isEmpty }
        for name in names {
            try database.executeUpdate("CREATE TABLE \(identifier: "t\(name)") (\(identifier: name))")
            try database.executeUpdate("INSERT INTO \(identifier: "t\(name)") VALUES (\(name))")
            try database.executeUpdate(
                "CREATE INDEX \(identifier: "i\(name)") ON \(identifier: "t\(name)") (\(identifier: name))"
            )
        }
        database.close()
        let file = DatabaseFile(path: directory.file("test.db"))
        try file.copy(key: key, to: directory.file("copy.db"))
        _ = try file.recover(key: key, to: directory.file("recovered.db"))
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 8192 }
        try file.migrate(key: key, format: format)
        for path in ["test.db", "copy.db", "recovered.db"] {
            let made = Database(path: directory.file(path))
            try made.open(key: key, flags: .readOnly)
            #expect(
                try made.int(forQuery: "SELECT count(*) FROM sqlite_master WHERE type = 'table'") == names.count + 1
            )
            for name in names {
                let rows = try made.executeQuery(
                    "SELECT \(identifier: name) FROM \(identifier: "t\(name)")"
                )
                #expect(try rows.next() && rows.string(forColumnIndex: 0) == name)
                rows.close()
            }
            made.close()
        }
    }
}
