import TestSupport
import Testing

@testable import CipherDB

/// What a typed call says of the rows that it stored, changed or deleted.
@Suite struct InsertedRowTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements(
            """
            CREATE TABLE person (id INTEGER PRIMARY KEY, mail TEXT UNIQUE ON CONFLICT IGNORE);
            CREATE TABLE log (n INTEGER PRIMARY KEY, t);
            INSERT INTO log VALUES (70, 'x');
            """
        )
    }

    @Test func ignoredRowHasNoID() throws {
        #expect(try database.insert(into: "person", ["mail": "Ada"]) == 1)
        #expect(try database.insert(into: "person", ["mail": "Bob"]) == 2)
        #expect(try database.insert(into: "person", ["mail": "Ada"]) == nil)
        #expect(try database.insert(into: "person", ["id": nil, "mail": "Bob"]) == nil)
        #expect(try database.insert(into: "person", ["id": 9, "mail": "Bob"]) == nil)
        #expect(try database.insertOrIgnore(into: "person", ["mail": "Bob"]) == nil)
        #expect(try database.insertOrIgnore(into: "person", ["id": 1, "mail": "Eve"]) == nil)
        #expect(database.lastInsertRowID == 2, "SQLite's own, of whichever row was stored last")
        #expect(try database.insert(into: "person", ["id": 9, "mail": "Eve"]) == 9)
        #expect(try database.insertOrIgnore(into: "person", ["id": nil, "mail": "Kim"]) == 10)
    }

    @Test func rowThatTriggerRefusesHasNoID() throws {
        try database.executeStatements(
            """
            CREATE TRIGGER t BEFORE INSERT ON person WHEN NEW.mail LIKE 'spam%'
            BEGIN INSERT INTO log (t) VALUES (NEW.mail); SELECT RAISE(IGNORE); END;
            CREATE TRIGGER u BEFORE UPDATE ON person WHEN NEW.mail LIKE 'spam%' BEGIN SELECT RAISE(IGNORE); END;
            """
        )
        #expect(try database.insert(into: "person", ["mail": "Ada"]) == 1)
        #expect(try database.insert(into: "person", ["mail": "spam1"]) == nil)
        #expect(try database.insertOrIgnore(into: "person", ["mail": "spam2"]) == nil)
        #expect(try database.insert(into: "person", ["id": 5, "mail": "spam3"]) == nil)
        #expect(try database.count(in: "log") == 4)
        #expect(try database.update("person", set: ["mail": "spam"], where: Column("id") == 1) == 0)
        guard Engine.current.has(.upsert) else { return }
        #expect(try database.upsert(into: "person", ["id": 5, "mail": "spam4"]) == nil)
        #expect(try database.upsert(into: "person", ["id": 1, "mail": "spam5"]) == nil)
        #expect(try database.upsert(into: "person", ["mail": "spam6"], onConflict: "id") == nil)
        #expect(try database.upsert(into: "person", ["mail": "spam7"], onConflict: "mail") == nil)
        #expect(try database.upsert(into: "person", ["id": 1, "mail": "Bob"]) == 1)
        #expect(try database.fetchAll(String.self, "SELECT mail FROM person") == ["Bob"])
    }

    @Test func idIsOfTheTableNotOfItsTriggers() throws {
        try database.executeStatements(
            """
            CREATE TABLE keyed (k PRIMARY KEY, oid) WITHOUT ROWID;
            CREATE TRIGGER t BEFORE INSERT ON person BEGIN INSERT INTO log (t) VALUES ('before'); END;
            CREATE TRIGGER u AFTER INSERT ON person BEGIN INSERT INTO log (t) VALUES ('after'); END;
            CREATE TRIGGER v AFTER INSERT ON keyed BEGIN INSERT INTO log (t) VALUES ('keyed'); END;
            CREATE TEMP TABLE scratch (a, rowid, _rowid_, oid);
            """
        )
        #expect(try database.insert(into: "person", ["mail": "Ada"]) == 1)
        #expect(try database.count(in: "log") == 3)
        #expect(try database.insert(into: "keyed", ["k": "a"]) == nil)
        #expect(database.changes == 1)
        #expect(try database.insertOrIgnore(into: "keyed", ["k": "b"]) == nil)
        #expect(database.changes == 1)
        #expect(try database.insertOrIgnore(into: "keyed", ["k": "b"]) == nil)
        #expect(database.changes == 0)
        #expect(try database.insert(into: "scratch", ["a": 1]) == 1)
        #expect(try database.insert(into: TableName("SCRATCH", in: "Temp"), ["a": 1]) == 2)
    }

    @Test func replacedRowHasItsNewID() throws {
        try database.executeStatements("CREATE TABLE r (id INTEGER PRIMARY KEY, k UNIQUE ON CONFLICT REPLACE)")
        #expect(try database.insert(into: "r", ["k": "a"]) == 1)
        #expect(try database.insert(into: "r", ["k": "b"]) == 2)
        #expect(try database.insert(into: "r", ["k": "a"]) == 3)
        #expect(try database.insertOrIgnore(into: "r", ["k": "b"]) == nil)
        #expect(try database.fetchAll(String.self, "SELECT k FROM r ORDER BY id") == ["b", "a"])
    }

    @Test func viewIsCountedByItsCondition() throws {
        try database.executeStatements(
            """
            INSERT INTO person VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Eve');
            CREATE VIEW people AS SELECT id, mail FROM person;
            CREATE TRIGGER t INSTEAD OF INSERT ON people BEGIN INSERT INTO person VALUES (NEW.id, NEW.mail); END;
            CREATE TRIGGER u INSTEAD OF UPDATE ON people BEGIN UPDATE person SET mail = NEW.mail WHERE id = OLD.id; END;
            CREATE TRIGGER v INSTEAD OF DELETE ON people BEGIN DELETE FROM person WHERE id = OLD.id; END;
            """
        )
        #expect(try database.insert(into: "people", ["mail": "Kim"]) == nil)
        #expect(try database.insertOrIgnore(into: "people", ["mail": "Lou"]) == nil)
        #expect(try database.insertOrIgnore(into: "people", ["mail": "Lou"]) == nil)
        #expect(try database.count(in: "person") == 5)
        #expect(try database.update("people", set: ["mail": "x"], where: Column("id") == 1) == 1)
        #expect(try database.update("people", set: ["mail": "x"], where: Column("id") == 99) == 0)
        #expect(try database.update("people", set: ["id": 2, "mail": "y"], where: Column("id") == 2) == 1)
        #expect(try database.delete(from: "people", where: Column("id") <= 2) == 2)
        #expect(try database.updateAll("people", set: ["id": 1]) == 3)
        #expect(try database.deleteAll(from: "people") == 3)
        #expect(try database.count(in: "person") == 0 && !database.isInTransaction)
        // Without such a trigger it is an error, and in a transaction, too.
        try database.executeStatements("DROP TRIGGER v")
        #expect(throws: DatabaseError.self) { try database.deleteAll(from: "people") }
        #expect(throws: DatabaseError.self) { try database.delete(from: "nosuch", where: Column("id") == 1) }
    }

    @Test func emptiedTableWithoutRowidIsCounted() throws {
        try database.executeStatements(
            "CREATE TABLE keyed (k PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES ('a'), ('b'), ('c')"
        )
        #expect(try database.deleteAll(from: "keyed") == 3)
        #expect(try database.count(in: "keyed") == 0)
    }

    @Test(.enabled(if: Engine.current.has(.upsert), "this engine has no upsert"))
    func upsertThatStoresNothingHasNoID() throws {
        #expect(try database.upsert(into: "person", ["id": 1, "mail": "Ada"]) == 1)
        #expect(try database.upsert(into: "person", ["id": 2, "mail": "Ada"]) == nil)
        #expect(try database.upsert(into: "person", ["mail": "Ada"], onConflict: "id") == nil)
        #expect(try database.upsert(into: "person", ["mail": "Ada"], onConflict: "mail") == 1)
        #expect(try database.count(in: "person") == 1)
        try database.executeStatements("CREATE TABLE keyed (k PRIMARY KEY, v) WITHOUT ROWID")
        #expect(try database.upsert(into: "keyed", ["k": "a", "v": 1]) == nil)
        #expect(database.changes == 1)
    }
}
