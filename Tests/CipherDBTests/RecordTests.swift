import CipherDB
import CipherSystem
import Foundation
import TestSupport
import Testing

/// Types whose values are rows of a table, with verbs of their own.
@Suite struct RecordTests {
    struct Player: Codable, RowDecodable, MutablePersistableRecord, Equatable {
        static let databaseTableName = "player"
        var id: Int64?
        var name: String
        var score = 0
        var team: Int64?
        mutating func didInsert(_ rowID: Int64) { id = rowID }
    }

    /// Without Codable, with a key that the program makes.
    struct Device: RowDecodable, PersistableRecord, Equatable {
        static let databaseTableName = "device"
        let uuid: UUID
        var name: String?

        init(uuid: UUID, name: String?) {
            self.uuid = uuid
            self.name = name
        }

        init(row: ResultSet) throws {
            uuid = try row["uuid"]
            name = try row["name"]
        }

        func encode(to container: inout PersistenceContainer) {
            container["UUID"] = uuid
            container[Column("name")] = name
        }
    }

    struct Seat: Codable, RowDecodable, PersistableRecord, Equatable {
        static let databaseTableName = "seat"
        var row: Int
        var number: Int
        var holder: String?
    }

    let database: Database

    init() throws {
        database = Database(path: nil, configuration: Configuration { $0.storage = .grdb })
        try database.open()
        try database.executeStatements(
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, score INTEGER NOT NULL, team INTEGER);
            CREATE TABLE device (uuid BLOB PRIMARY KEY, name TEXT) WITHOUT ROWID;
            CREATE TABLE seat ("row" INTEGER, number INTEGER, holder TEXT, PRIMARY KEY ("row", number));
            CREATE TABLE bare (name TEXT)
            """
        )
    }

    @Test func insertionGivesRowID() throws {
        var ada = Player(name: "Ada")
        try ada.insert(database)
        #expect(ada.id == 1)
        var kept = Player(id: 40, name: "Bo")
        try kept.insert(database)
        #expect(kept.id == 40)
        #expect(try Player.fetchAll(database, orderedBy: [.ascending(Column("id"))]) == [ada, kept])
        #expect { try ada.insert(database) } throws: { ($0 as? DatabaseError)?.code.primary == .constraint }
    }

    @Test func rowsAreFoundByKeyAndCondition() throws {
        for (name, score) in [("Ada", 3), ("Bo", 1), ("Cy", 2)] {
            var player = Player(name: name, score: score)
            try player.insert(database)
        }
        #expect(try Player.fetchOne(database, key: 2)?.name == "Bo")
        #expect(try Player.fetchOne(database, key: 9) == nil && Player.fetchOne(database, key: nil) == nil)
        #expect(try Player.find(database, key: 3).name == "Cy")
        #expect { try Player.find(database, key: 9) } throws: { ($0 as? DatabaseError)?.code.primary == .notFound }
        #expect(try Player.fetchCount(database) == 3 && Player.fetchCount(database, where: Column("score") > 1) == 2)
        let best = try Player.fetchAll(
            database,
            where: Column("score") > 0,
            orderedBy: [.descending("score")],
            limit: 2
        )
        #expect(best.map(\.name) == ["Ada", "Cy"])
        #expect(try Player.fetchOne(database, orderedBy: [.ascending("score")])?.name == "Bo")
        #expect(try Player.exists(database, key: 1) && !Player.exists(database, key: 9))
        #expect(try Player.deleteOne(database, key: 1) && !Player.deleteOne(database, key: 1))
        #expect(try Player.deleteAll(database, where: Column("score") == 1) == 1 && Player.deleteAll(database) == 1)
    }

    @Test func updateNeedsItsRow() throws {
        var ada = Player(name: "Ada")
        try ada.insert(database)
        ada.score = 7
        try ada.update(database)
        #expect(try Player.find(database, key: 1).score == 7)
        #expect(try ada.exists(database) && ada.delete(database) && !ada.delete(database) && !ada.exists(database))
        #expect { try ada.update(database) } throws: { ($0 as? DatabaseError)?.code.primary == .notFound }
        #expect { try Player(name: "new").update(database) } throws: {
            ($0 as? DatabaseError)?.code.primary == .notFound
        }
        #expect(try !Player(name: "new").delete(database))
    }

    @Test func saveUpdatesOrInserts() throws {
        var ada = Player(name: "Ada")
        try ada.save(database)
        #expect(ada.id == 1)
        ada.score = 2
        try ada.save(database)
        #expect(try Player.fetchAll(database) == [ada])
        var kept = Player(id: 9, name: "Bo")
        try kept.save(database)
        #expect(try Player.find(database, key: 9) == kept)
    }

    @Test func onlyChangesAreStored() throws {
        var ada = Player(name: "Ada", score: 1)
        try ada.insert(database)
        // Another one changed the row meanwhile.
        try database.executeUpdate("UPDATE player SET team = 5")
        #expect(try ada.updateChanges(database) { $0.score += 1 })
        #expect(try Player.find(database, key: 1) == Player(id: 1, name: "Ada", score: 2, team: 5))
        let before = try database.int(forQuery: "SELECT total_changes()")
        #expect(try !ada.updateChanges(database) { $0.score = 2 })
        #expect(
            try !ada.updateChanges(database, from: ada) && database.int(forQuery: "SELECT total_changes()") == before
        )
        try ada.delete(database)
        #expect { try ada.updateChanges(database) { $0.score = 2 } } throws: {
            ($0 as? DatabaseError)?.code.primary == .notFound
        }
        #expect { try ada.updateChanges(database) { $0.score = 3 } } throws: {
            ($0 as? DatabaseError)?.code.primary == .notFound
        }
    }

    @Test func recordWithoutCodableIsStored() throws {
        let phone = Device(uuid: UUID(), name: nil)
        try phone.insert(database)
        #expect(try Device.find(database, key: phone.uuid) == phone)
        #expect(try database.string(forQuery: "SELECT typeof(uuid) FROM device") == "blob")
        var named = phone
        named.name = "phone"
        try named.update(database)
        #expect(try Device.fetchAll(database, where: Column("uuid") == phone.uuid) == [named])
        let others = (1...3).map { Device(uuid: UUID(), name: "\($0)") }
        for device in others { try device.insert(database) }
        #expect(try Device.fetchCount(database) == 4)
    }

    @Test func severalColumnsAreOneKey() throws {
        let seat = Seat(row: 1, number: 2, holder: nil)
        try seat.insert(database)
        try Seat(row: 1, number: 3, holder: "Bo").insert(database)
        try Seat(row: 1, number: 2, holder: "Ada").update(database)
        #expect(
            try Seat.fetchAll(database, orderedBy: [.ascending("number")]).map(\.holder) == ["Ada", "Bo"]
        )
        #expect { try Seat.find(database, key: 1) } throws: { ($0 as? DatabaseError)?.code.primary == .misuse }
        #expect(try seat.delete(database) && Seat.fetchCount(database) == 1)
    }

    @Test func tableWithoutKeyHasNoRecordsToTellApart() throws {
        struct Bare: Codable, RowDecodable, PersistableRecord {
            static let databaseTableName = "bare"
            var name: String
        }
        try Bare(name: "x").insert(database)
        #expect(try Bare.fetchCount(database) == 1)
        #expect { try Bare(name: "x").update(database) } throws: { ($0 as? DatabaseError)?.code.primary == .misuse }
        #expect { try Bare(name: "x").delete(database) } throws: { ($0 as? DatabaseError)?.code.primary == .misuse }
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertKeepsRow() throws {
        var ada = Player(name: "Ada")
        try ada.upsert(database)
        #expect(ada.id == 1)
        ada.score = 5
        try ada.upsert(database)
        #expect(try Player.fetchAll(database) == [ada])
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertWithNullGivesRowNoOtherID() throws {
        try database.executeStatements(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, mail UNIQUE COLLATE NOCASE); INSERT INTO person VALUES (7, 'a'), (20, 'z')"
        )
        let none = Int64?.none as any ColumnEncodable
        for value in [DatabaseValue.null, none] {
            #expect(try database.upsert(into: "person", ["id": value, "MAIL": "A"], onConflict: "mail") == 7)
        }
        #expect(try database.fetchAll(String.self, "SELECT id || mail FROM person ORDER BY 1") == ["20z", "7a"])
        #expect(try database.upsert(into: "person", ["id": nil]) == 21)
    }

    @Test func otherBytesOfSameCharactersAreStored() throws {
        var ada = Player(name: "caf\u{e9}")
        try ada.insert(database)
        #expect(try ada.updateChanges(database) { $0.name = "cafe\u{301}" })
        #expect(try Player.fetchCount(database, where: Column("name") == "cafe\u{301}") == 1)
    }

    @Test func recordIgnoredByTriggerIsThere() throws {
        try database.executeStatements(
            "CREATE TRIGGER fixed BEFORE UPDATE ON player WHEN old.score = 9 BEGIN SELECT RAISE(IGNORE); END"
        )
        var ada = Player(name: "Ada", score: 9)
        try ada.insert(database)
        ada.score = 1
        try ada.update(database)
        try ada.save(database)
        #expect(try Player.fetchAll(database).map(\.score) == [9])
    }

    @Test func nullIsNoKey() throws {
        struct Item: Codable, RowDecodable, PersistableRecord {
            static let databaseTableName = "item"
            var uuid: UUID?
            var name: String
            func encode(to container: inout PersistenceContainer) throws {
                container["uuid"] = uuid as any ColumnEncodable
                container["name"] = name
            }
        }
        try database.executeStatements("CREATE TABLE item (uuid BLOB PRIMARY KEY, name TEXT)")
        let none: UUID? = nil
        for name in ["a", "b"] { try Item(uuid: nil, name: name).insert(database) }
        #expect(try !Item.deleteOne(database, key: none) && !Item.exists(database, key: DatabaseValue.null))
        #expect(try Item.fetchOne(database, key: none) == nil && !Item(uuid: nil, name: "a").delete(database))
        #expect { try Item(uuid: nil, name: "c").update(database) } throws: {
            ($0 as? DatabaseError)?.code == .notFound
        }
        try Item(uuid: nil, name: "c").save(database)
        #expect(try Item.fetchAll(database).map(\.name).sorted() == ["a", "b", "c"])
    }

    @Test func recordOfClassIsStored() throws {
        final class Note: Codable, RowDecodable, MutablePersistableRecord {
            static let databaseTableName = "player"
            var id: Int64?
            var name: String
            var score = 1
            init(name: String) { self.name = name }
            func didInsert(_ rowID: Int64) { id = rowID }
        }
        var note = Note(name: "x")
        try note.insert(database)
        #expect(note.id == 1)
        #expect(try note.updateChanges(database) { $0.score = 4 })
        #expect(try Note.find(database, key: 1).score == 4)
    }

    @Test func definitionsOfMovedAppsAreMade() throws {
        try database.createTable(
            "parent",
            columns: [ColumnDefinition("a", .integer), ColumnDefinition("b", .text)],
            constraints: [.primaryKey("a", "b")]
        )
        try database.createTable(
            "child",
            columns: [
                ColumnDefinition("a", .integer), ColumnDefinition("b", .text),
                ColumnDefinition("done", .boolean, .notNull),
                ColumnDefinition("day", .date), ColumnDefinition("at", .datetime),
            ],
            constraints: [
                .foreignKey(["a", "b"], references: "parent", ["a", "b"], onDelete: .cascade, onUpdate: .setNull)
            ]
        )
        try database.executeStatements("PRAGMA foreign_keys = ON; INSERT INTO parent VALUES (1, 'x'), (2, 'y')")
        let at = Date(timeIntervalSince1970: 1_234_567_890.125)
        for (a, b) in [(1, "x"), (2, "y")] {
            try database.insert(into: "child", ["a": a, "b": b, "done": true, "day": "2026-01-02", "at": at])
        }
        #expect {
            try database.insert(into: "child", ["a": 3, "b": "z", "done": false])
        } throws: {
            ($0 as? DatabaseError)?.code.primary == .constraint
        }
        try database.executeUpdate("UPDATE parent SET b = 'z' WHERE a = 2")
        try database.executeUpdate("DELETE FROM parent WHERE a = 1")
        let row = try database.select(from: "child")
        #expect(try row.next())
        #expect(try row["a"] as Int? == nil && row["done"] as Bool && row["at"] as Date == at)
        #expect(try row["day"] as String == "2026-01-02" && !row.next())
        guard Engine.current.has(.renameColumn) else {
            #expect { try database.renameColumn("done", of: "child", to: "x") } throws: { "\($0)".contains("3.25") }
            #expect { try database.renameTable("child", to: "x") } throws: { "\($0)".contains("3.25") }
            return
        }
        try database.renameTable("parent", to: "folk's")
        try database.renameTable("child", to: "kid's")
        try database.renameColumn("done", of: "kid's", to: "is done")
        #expect(try database.fetchOne(Bool.self, "SELECT \"is done\" FROM \"kid's\"") == true)
        #expect { try database.insert(into: "kid's", ["a": 9, "b": "q", "is done": true]) } throws: {
            ($0 as? DatabaseError)?.code.primary == .constraint
        }
    }

    @Test func actionAfterCommitRunsOnce() throws {
        let told = Lock([String]())
        func tell(_ text: String) throws { try database.afterCommit { told.withLock { $0.append(text) } } }
        try database.inTransaction { database in
            try database.executeUpdate("INSERT INTO bare VALUES ('a')")
            try tell("a")
            try tell("b")
            #expect(told.withLock { $0 } == [])
        }
        #expect(told.withLock { $0 } == ["a", "b"])
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.inTransaction { _ in
                try tell("rolled back")
                throw Stop()
            }
        }
        // Nothing was written: there is a commit all the same.
        try database.inTransaction(.deferred) { _ in try tell("empty") }
        try tell("outside")
        try database.inSavePoint { database in
            try database.executeUpdate("INSERT INTO bare VALUES ('d')")
            try tell("savepoint")
            try? database.inSavePoint { _ in
                try tell("undone")
                throw Stop()
            }
            try database.inSavePoint { _, undo in
                try tell("undone")
                undo = true
            }
            try database.inSavePoint { _ in try tell("inner") }
            #expect(told.withLock { $0 } == ["a", "b", "empty", "outside"])
        }
        try database.inSavePoint { _, undo in
            try tell("undone")
            undo = true
        }
        #expect(told.withLock { $0 } == ["a", "b", "empty", "outside", "savepoint", "inner"])
        try? database.inTransaction { database in
            try database.rollback()
            #expect { try tell("ended") } throws: { ($0 as? DatabaseError)?.code == .abortedByRollback }
        }
        try database.beginTransaction()
        #expect { try tell("begun otherwise") } throws: { ($0 as? DatabaseError)?.code == .misuse }
        try database.inSavePoint { _ in
            #expect { try tell("begun otherwise") } throws: { ($0 as? DatabaseError)?.code == .misuse }
        }
        try database.commit()
        // It may use the database.
        try database.inTransaction { database in
            try database.afterCommit { [database] in
                _ = try? database.executeUpdate("INSERT INTO bare VALUES ('after')")
            }
        }
        #expect(try database.count(in: "bare", where: Column("name") == "after") == 1)
        #expect(told.withLock { $0 }.count == 6)
        database.close()
        #expect(throws: DatabaseError.self) { try tell("closed") }
    }
}
