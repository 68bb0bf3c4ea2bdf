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

    let folder: TemporaryFolder
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        database = Database(path: folder.file("test.db"))
        try database.open(key: .passphrase("right"))
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    }

    /// Calls that take `text` for a name, a value or a path; each may refuse it.
    private func calls(_ text: String) -> [(String, () throws -> Void)] {
        let other = folder.file("other.db")
        return [
            ("savepoint", { try database.startSavePoint(withName: text) }),
            ("rollback to savepoint", { try database.rollbackToSavePoint(withName: text) }),
            ("release savepoint", { try database.releaseSavePoint(withName: text) }),
            ("table", { _ = try database.tableExists(text) }),
            ("table's schema", { _ = try database.tableSchema(text).next() }),
            ("column", { _ = try database.columnExists(text, inTableWithName: "t") }),
            ("column's table", { _ = try database.columnExists("a", inTableWithName: text) }),
            ("checkpoint", { _ = try database.checkpoint(.passive, name: text) }),
            ("attach", { try database.attach(other, as: text, key: .passphrase(text + "x")) }),
            ("attached path", { try database.attach(folder.path + "/" + text, as: "o", key: .passphrase("x")) }),
            ("plaintext", { try database.attachPlaintext(other, as: text) }),
            ("function", { try database.makeFunction(named: text, arguments: 1) { _ in 1 } }),
            ("collation", { try database.makeCollation(named: text) { _, _ in .orderedSame } }),
            ("tokenizer", { try database.makeTokenizer(named: text) { _, _ in [] } }),
            ("blob", { try database.openBlob(inTable: text, column: text, row: 1, schema: text).close() }),
            ("value", { try database.executeUpdate("UPDATE t SET a = ?", text) }),
            (
                "named value",
                { try database.executeUpdate("UPDATE t SET a = :a", withParameterDictionary: ["a": text]) }
            ),
            (
                "name of a value",
                { try database.executeUpdate("UPDATE t SET a = :a", withParameterDictionary: [text: 1]) }
            ),
            ("interpolated value", { try database.executeUpdate(withFormat: "UPDATE t SET a = \(text)") }),
            ("identifier", { try database.executeUpdate(withFormat: "UPDATE t SET \(identifier: text) = 1") }),
            ("key", { _ = try DatabaseQueue(path: folder.file("keyed.db"), key: .passphrase(text)) }),
            (
                "literal",
                {
                    let made = Database(path: folder.file("set.db")); try made.open(); try made.setKey(text)
                }
            ),
            ("path", { _ = try DatabaseQueue(path: folder.path + "/" + text, key: .passphrase("x")) }),
        ]
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
        try database.open(key: .passphrase("right"))
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 1)
    }

    /// The names in a database of somebody else's go through the statements with which `rekey` copies and salvages it.
    @Test func namesInADatabaseBecomeNoSQLWhereItIsCopied() throws {
        let names = Self.strings.filter { !$0.utf8.contains(0) && !$0.isEmpty }
        for name in names {
            try database.executeUpdate(withFormat: "CREATE TABLE \(identifier: "t\(name)") (\(identifier: name))")
            try database.executeUpdate(withFormat: "INSERT INTO \(identifier: "t\(name)") VALUES (\(name))")
            try database.executeUpdate(
                withFormat: "CREATE INDEX \(identifier: "i\(name)") ON \(identifier: "t\(name)") (\(identifier: name))"
            )
        }
        database.close()
        let key = try DatabaseKey.passphrase("right")
        let file = DatabaseFile(path: folder.file("test.db"))
        try file.copy(key: key, to: folder.file("copy.db"))
        _ = try file.recover(key: key, to: folder.file("recovered.db"))
        let format = try #require(Engine.current.formats.first).with(pageSize: 8192)
        try file.migrate(key: key, format: format)
        for path in ["test.db", "copy.db", "recovered.db"] {
            let made = Database(path: folder.file(path))
            try made.open(key: key, flags: .readOnly)
            #expect(
                try made.int(forQuery: "SELECT count(*) FROM sqlite_master WHERE type = 'table'") == names.count + 1
            )
            for name in names {
                let rows = try made.executeQuery(
                    withFormat: "SELECT \(identifier: name) FROM \(identifier: "t\(name)")"
                )
                #expect(try rows.next() && rows.string(forColumnIndex: 0) == name)
                rows.close()
            }
            made.close()
        }
    }
}
