import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// The programs that introductions to FMDB show, as they are written here. The articles of the documentation show this code.
@Suite struct SampleProgramTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("sample.db")
    }

    private var key: DatabaseKey { get throws { try .sample("correct horse battery staple") } }

    /// Open, make a table, put rows in, read them.
    @Test func openInsertAndRead() throws {
        var seen: [String] = []
        let database = Database(path: path)
        try database.open(key: key)
        defer { database.close() }
        try database.executeUpdate("CREATE TABLE test (x TEXT, y TEXT, z TEXT)")
        try database.executeUpdate("INSERT INTO test (x, y, z) VALUES (?, ?, ?)", "a", "b", "c")
        try database.executeUpdate("INSERT INTO test (x, y, z) VALUES (?, ?, ?)", "e", "f", String?.none)
        let rows = try database.executeQuery("SELECT x, y, z FROM test")
        while try rows.next() {
            let x = try rows.string(forColumn: "x")
            let y = try rows.string(forColumn: "y")
            let z = try rows.string(forColumn: "z")
            seen.append("x = \(x ?? "nil"); y = \(y ?? "nil"); z = \(z ?? "nil")")
        }
        #expect(seen == ["x = a; y = b; z = c", "x = e; y = f; z = nil"])
    }

    struct WentWrong: Error {}

    /// A transaction that is undone, by throwing and by asking for it.
    @Test func transactions() throws {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeUpdate("CREATE TABLE accounts (name TEXT, money INTEGER)") }
        try queue.inTransaction { database in
            try database.insert(into: "accounts", ["name": "Ada", "money": 100])
            try database.insert(into: "accounts", ["name": "Bob", "money": 0])
        }
        #expect(throws: WentWrong.self) {
            try queue.inTransaction { database in
                try database.executeUpdate("UPDATE accounts SET money = money - 60 WHERE name = 'Ada'")
                throw WentWrong()
            }
        }
        try queue.inTransaction { database, rollback in
            try database.executeUpdate("UPDATE accounts SET money = money + 60 WHERE name = 'Bob'")
            if try database.int(forQuery: "SELECT sum(money) FROM accounts") != 100 { rollback = true }
        }
        let money = try queue.inDatabase { try $0.fetchAll(Int.self, "SELECT money FROM accounts ORDER BY name") }
        #expect(money == [100, 0])
    }

    /// One queue, many threads.
    @Test func queueFromManyThreads() throws {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeUpdate("CREATE TABLE log (thread INTEGER, line INTEGER)") }
        let failures = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for line in 0..<50 {
                    try queue.inTransaction { try $0.executeUpdate("INSERT INTO log VALUES (?, ?)", thread, line) }
                }
            } catch {
                failures.withLock { $0 += 1 }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(
            try queue.inDatabase { try $0.int(forQuery: "SELECT count(DISTINCT thread * 100 + line) FROM log") } == 400
        )
    }

    /// A transaction inside a transaction.
    @Test func savePoints() throws {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeUpdate("CREATE TABLE t (a INTEGER)") }
        try queue.inTransaction { database in
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            try? database.inSavePoint { database in
                try database.executeUpdate("INSERT INTO t VALUES (2)")
                throw WentWrong()
            }
            try database.inSavePoint { try $0.executeUpdate("INSERT INTO t VALUES (3)") }
        }
        #expect(try queue.inDatabase { try $0.fetchAll(Int.self, "SELECT a FROM t") } == [1, 3])
    }

    /// The class that every tutorial writes around a database.
    final class NoteStore: Sendable {
        struct Note: Codable, RowDecodable, MutablePersistableRecord, Equatable, Sendable {
            static let databaseTableName = "notes"
            var id: Int64?
            var title: String
            var text: String

            mutating func didInsert(_ rowID: Int64) { id = rowID }
        }

        private let queue: DatabaseQueue

        init(path: String, key: DatabaseKey) throws {
            queue = try DatabaseQueue(path: path, key: key)
            try queue.migrate(Self.steps)
        }

        private static let steps = [
            Migration("notes") { database in
                try database.createTable(
                    "notes",
                    columns: [
                        ColumnDefinition("id", .integer, .primaryKey),
                        ColumnDefinition("title", .text, .notNull, .unique),
                        ColumnDefinition("text", .text, .notNull),
                    ]
                )
            }
        ]

        func add(_ note: Note) throws -> Int64? {
            var note = note
            try queue.inDatabase { try note.insert($0) }
            return note.id
        }

        func all() throws -> [Note] {
            try queue.inDatabase { try $0.select(from: "notes", orderedBy: [.ascending("title")]).fetchAll(Note.self) }
        }

        func notes(titled title: String) throws -> [Note] {
            try queue.inDatabase { try $0.select(from: "notes", where: Column("title") == title).fetchAll(Note.self) }
        }

        func change(_ note: Note) throws -> Bool {
            try queue.inDatabase { database in
                try database.update(
                    "notes",
                    set: ["title": note.title, "text": note.text],
                    where: Column("id") == note.id
                ) == 1
            }
        }

        func delete(_ id: Int64) throws -> Bool {
            try queue.inDatabase { try $0.delete(from: "notes", where: Column("id") == id) == 1 }
        }
    }

    @Test func wrapperOfTutorials() throws {
        let store = try NoteStore(path: path, key: key)
        let id = try #require(try store.add(.init(title: "milk", text: "'); DROP TABLE notes; --")))
        _ = try store.add(.init(title: "bread", text: ""))
        #expect(throws: DatabaseError.self) { try store.add(.init(title: "milk", text: "again")) }
        #expect(try store.all().map(\.title) == ["bread", "milk"])
        #expect(try store.change(.init(id: id, title: "milk", text: "two litres")))
        #expect(try store.notes(titled: "milk") == [.init(id: id, title: "milk", text: "two litres")])
        #expect(try store.delete(id))
        #expect(try !store.delete(id))
        #expect(try NoteStore(path: path, key: key).all().map(\.title) == ["bread"])
    }
}
