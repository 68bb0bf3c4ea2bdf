import CipherDB
import Foundation
import TestSupport
import Testing

@Suite struct TransactionTests {
    struct Stop: Error {}
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (a)")
    }

    private func count() throws -> Int { try database.first("SELECT count(*) FROM t") }
    private func insert() throws { try database.executeUpdate("INSERT INTO t VALUES (1)") }

    @Test(arguments: [TransactionKind.deferred, .immediate, .exclusive])
    func blockCommitsUnlessItThrows(kind: TransactionKind) throws {
        let result = try database.inTransaction(kind) { database in
            #expect(database.isInTransaction)
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            return "done"
        }
        #expect(try result == "done" && count() == 1 && !database.isInTransaction)
        #expect(throws: Stop.self) {
            try database.inTransaction(kind) { database in
                try database.executeUpdate("INSERT INTO t VALUES (2)")
                throw Stop()
            }
        }
        #expect(try count() == 1 && !database.isInTransaction)
    }

    @Test func blockCanAskForRollback() throws {
        try database.inTransaction { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            rollback = true
        }
        #expect(try count() == 0)
        try database.inTransaction { database, _ in try database.executeUpdate("INSERT INTO t VALUES (1)") }
        #expect(try count() == 1)
    }

    @Test func nestedTransactionIsRefused() throws {
        try database.inTransaction { database in
            #expect(throws: DatabaseError.self) { try database.inTransaction { _ in Issue.record("the block ran") } }
            #expect(throws: DatabaseError.self) { try database.beginTransaction() }
            try database.executeUpdate("INSERT INTO t VALUES (1)")
        }
        #expect(try count() == 1)
    }

    @Test func failedCommitIsRolledBack() throws {
        try database.executeStatements(
            "CREATE TABLE p (id INTEGER PRIMARY KEY); "
                + "CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED)"
        )
        #expect(throws: DatabaseError.self) {
            try database.inTransaction { try $0.executeUpdate("INSERT INTO c VALUES (9)") }
        }
        #expect(!database.isInTransaction)
        #expect(try database.first("SELECT count(*) FROM c") == 0)
    }

    @Test func commitAndRollbackWithoutTransactionAreErrors() {
        #expect(throws: DatabaseError.self) { try database.commit() }
        #expect(throws: DatabaseError.self) { try database.rollback() }
    }

    @Test func savepointsNest() throws {
        try database.inTransaction { database in
            try insert()
            #expect(throws: Stop.self) {
                try database.inSavePoint { database in
                    try insert()
                    try database.inSavePoint { _ in try insert() }
                    #expect(try count() == 3)
                    throw Stop()
                }
            }
            #expect(try count() == 1)
            try database.inSavePoint { _, rollback in
                try insert()
                rollback = true
            }
            try database.inSavePoint { _ in try insert() }
        }
        #expect(try count() == 2)
    }

    @Test(arguments: ["plain", "it's \"quoted\"; DROP TABLE t; --", "", "🔑", "SELECT"])
    func savepointNamesAreNamesAndNotSQL(name: String) throws {
        try database.startSavePoint(withName: name)
        try insert()
        try database.rollbackToSavePoint(withName: name)
        try insert()
        try database.releaseSavePoint(withName: name)
        #expect(try count() == 1 && !database.isInTransaction)
        #expect(throws: DatabaseError.self) { try database.releaseSavePoint(withName: name) }
    }

    @Test func transactionOpenAtClosingIsRolledBack() throws {
        let directory = try TemporaryDirectory()
        let file = Database(path: directory.file("test.db"))
        try file.open(key: .sample("secret"))
        try file.executeStatements("CREATE TABLE t (a)")
        try file.beginTransaction()
        try file.executeUpdate("INSERT INTO t VALUES (1)")
        file.close()
        try file.open(key: .sample("secret"))
        #expect(try file.first("SELECT count(*) FROM t") == 0)
    }

    @Test func transactionAllowsReadersUnlessExclusive() throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        let other = try queue.openConnection()
        other.busyTimeout = .zero
        try queue.inTransaction { database in
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            nonisolated(unsafe) let reader = other
            #expect(try reader.int(forQuery: "SELECT count(*) FROM t") == 0)
        }
        try queue.inTransaction(.exclusive) { database in
            try database.executeUpdate("INSERT INTO t VALUES (2)")
            nonisolated(unsafe) let reader = other
            #expect(throws: DatabaseError.self) { _ = try reader.int(forQuery: "SELECT count(*) FROM t") }
        }
    }

    @Test(.enabled(if: Engine.current.has(.returning), "this engine has no RETURNING"))
    func savePointIsUndoneAfterFailedStatement() throws {
        struct Undo: Error {}
        let database = Database(path: nil)
        try database.open()
        try database.executeStatements(
            "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p (id)); CREATE TABLE kept (a)"
        )
        try database.inTransaction { database in
            try database.executeUpdate("INSERT INTO kept VALUES ('before')")
            try? database.inSavePoint { database in
                try database.executeUpdate("INSERT INTO kept VALUES ('undone')")
                let rows = try database.executeQuery("INSERT INTO c VALUES (99) RETURNING p")
                _ = try? rows.next()
                rows.close()
                throw Undo()
            }
        }
        #expect(try database.fetchAll(String.self, "SELECT a FROM kept") == ["before"])
    }

    /// Ways to end the transaction of a block inside of it.
    enum Ending: String, CaseIterable {
        case rollback, commit, conflict, savePoint, script

        func run(_ database: Database) {
            switch self {
            case .rollback: try? database.rollback()
            case .commit: try? database.commit()
            case .conflict: try? database.executeUpdate("INSERT OR ROLLBACK INTO t VALUES (1)")
            case .savePoint: try? database.inSavePoint { try $0.rollback() }
            case .script: try? database.executeStatements("ROLLBACK; BEGIN; INSERT INTO t VALUES (7)")
            }
        }
    }

    private func filled() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: nil)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)") }
        return queue
    }

    /// Whether `body` throws because its transaction ended.
    private func isRefused(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? DatabaseError)?.code == .abortedByRollback
        }
    }

    @Test(arguments: Ending.allCases)
    func noStatementFollowsTransactionThatEnded(_ ending: Ending) throws {
        let queue = try filled()
        let isBlockRefused = isRefused {
            try queue.write { database in
                try database.executeUpdate("INSERT INTO t VALUES (2)")
                ending.run(database)
                #expect(isRefused { try database.executeUpdate("INSERT INTO t VALUES (3)") })
                #expect(isRefused { try database.beginTransaction() })
                #expect(isRefused { _ = try database.int(forQuery: "SELECT 1") })
                #expect(isRefused { _ = try database.openBlob(inTable: "t", column: "a", row: 1) })
            }
        }
        #expect(isBlockRefused)
        let left = try queue.read { try $0.fetchAll(Int.self, "SELECT a FROM t ORDER BY a") }
        #expect(left == (ending == .commit ? [1, 2] : [1]))
        try queue.write { try $0.executeUpdate("INSERT INTO t VALUES (4)") }
    }

    @Test(arguments: Ending.allCases)
    func noStatementFollowsSavePointThatEnded(_ ending: Ending) throws {
        let queue = try filled()
        let isBlockRefused = isRefused {
            try queue.inSavePoint { database in
                ending.run(database)
                try? database.executeUpdate("INSERT INTO t VALUES (3)")
            }
        }
        #expect(isBlockRefused)
        #expect(try queue.read { try $0.fetchAll(Int.self, "SELECT a FROM t") } == [1])
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (4)") }
    }

    @Test func readThatEndedItsTransactionFails() throws {
        let queue = try filled()
        let isBlockRefused = isRefused {
            try queue.read { database in
                try database.rollback()
                _ = try database.int(forQuery: "SELECT count(*) FROM t")
            }
        }
        #expect(isBlockRefused)
        #expect(try queue.read { try $0.count(in: "t") } == 1)
    }

    @Test func blockCanBeUndoneByItsArgument() throws {
        let queue = try filled()
        try queue.inTransaction { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (2)")
            rollback = true
        }
        #expect(try queue.read { try $0.count(in: "t") } == 1)
    }
}
