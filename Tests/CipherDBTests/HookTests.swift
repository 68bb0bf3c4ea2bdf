import CipherDB
import Foundation
import Synchronization
import Testing

@Suite struct HookTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (a UNIQUE)")
    }

    @Test func everyRowThatChangesIsTold() throws {
        let changes = Mutex<[RowChange]>([])
        database.setUpdateHook { change in changes.withLock { $0.append(change) } }
        try database.executeUpdate("INSERT INTO t (rowid, a) VALUES (5, 'x')")
        try database.executeUpdate("UPDATE t SET a = 'y'")
        try database.executeUpdate("DELETE FROM t WHERE a = 'y'")
        try database.executeUpdate("CREATE TEMP TABLE s (b)")
        try database.executeUpdate("INSERT INTO s VALUES (1)")
        let seen = changes.withLock { $0 }
        #expect(seen.map(\.kind) == [.insert, .update, .delete, .insert])
        #expect(seen.map(\.rowID) == [5, 5, 5, 1])
        #expect(seen.map { "\($0.schema).\($0.table)" } == ["main.t", "main.t", "main.t", "temp.s"])
        database.setUpdateHook(nil)
        try database.executeUpdate("INSERT INTO t VALUES ('z')")
        #expect(changes.withLock { $0.count } == 4)
    }

    @Test func commitsAndRollbacksAreTold() throws {
        let events = Mutex<[String]>([])
        database.setCommitHook {
            events.withLock { $0.append("commit") }
            return true
        }
        database.setRollbackHook { events.withLock { $0.append("rollback") } }
        try database.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        try database.inTransaction { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (2)")
            rollback = true
        }
        #expect(events.withLock { $0 } == ["commit", "rollback"])
    }

    @Test func aCommitHookCanTurnTheCommitIntoARollback() throws {
        database.setCommitHook { false }
        #expect { try database.executeUpdate("INSERT INTO t VALUES (1)") } throws: {
            ($0 as? DatabaseError)?.code.primary == .constraint
        }
        #expect(!database.isInTransaction)
        database.setCommitHook(nil)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
        try database.executeUpdate("INSERT INTO t VALUES (1)")
    }
}
