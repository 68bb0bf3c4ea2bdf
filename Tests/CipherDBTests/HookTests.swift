import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Testing

@Suite struct HookTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (a UNIQUE)")
    }

    @Test func everyRowChangeIsReported() throws {
        let changes = Lock<[RowChange]>([])
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

    @Test func commitsAndRollbacksAreReported() throws {
        let events = Lock<[String]>([])
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

    @Test func commitHookCanRollBack() throws {
        database.setCommitHook { false }
        #expect { try database.executeUpdate("INSERT INTO t VALUES (1)") } throws: {
            ($0 as? DatabaseError)?.code.primary == .constraint
        }
        #expect(!database.isInTransaction)
        database.setCommitHook(nil)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
        try database.executeUpdate("INSERT INTO t VALUES (1)")
    }

    @Test(arguments: ["update", "commit", "trace", "initial", "step", "collation"])
    func hookClosingDatabaseFailsStatement(kind: String) throws {
        final class Reach: @unchecked Sendable {
            // It holds because hooks run on the thread that uses the database.
            var database: Database?
        }
        let reach = Reach()
        reach.database = database
        let close: @Sendable () -> Void = { reach.database?.close() }
        try database.executeUpdate("INSERT INTO t VALUES ('b'), ('a')")
        switch kind {
        case "update": database.setUpdateHook { _ in close() }
        case "commit":
            database.setCommitHook {
                close()
                return true
            }
        case "trace": database.setTrace { _ in close() }
        case "collation":
            try database.makeCollation(named: "c") { left, right in
                close()
                return left < right ? .orderedAscending : .orderedDescending
            }
        default:
            try database.makeAggregate(named: "agg", arguments: 1) {
                if kind == "initial" { close() }
                return 0
            } step: { _, _ in
                if kind == "step" { close() }
            } result: {
                $0
            }
        }
        #expect(throws: DatabaseError.self) {
            switch kind {
            case "collation": _ = try database.string(forQuery: "SELECT a FROM t ORDER BY a COLLATE c")
            case "initial", "step": _ = try database.int(forQuery: "SELECT agg(a) FROM t")
            default: try database.executeUpdate("INSERT INTO t VALUES ('c')")
            }
            // A trace tells of the end, too.
            _ = try database.int(forQuery: "SELECT 1")
        }
        #expect(!database.isOpen)
    }
}
