import CipherDB
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct DatabaseQueueTests {
    struct Stop: Error {}
    let directory: TemporaryDirectory
    let queue: DatabaseQueue

    init() throws {
        directory = try TemporaryDirectory()
        queue = try DatabaseQueue(
            path: directory.file("test.db"),
            key: .sample("secret"),
            // However busy the machine is.
            configuration: Configuration { $0.writerWaitingLimit = .seconds(600) }
        )
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
    }

    private func count() throws -> Int { try queue.inDatabase { try $0.first("SELECT count(*) FROM t") } }

    /// However often another thread interrupts, and whichever thread the processor runs.
    @Test func interruptionsMeetNothingThatUndoes() throws {
        let isOver = Gate()
        let ended = Gate()
        Thread { [queue] in
            while !isOver.passed { queue.interrupt() }
            ended.open()
        }.start()
        for _ in 0..<1000 {
            _ = try? queue.read { try $0.int(forQuery: "SELECT 1") }
            try? queue.inTransaction { database, _ in
                try database.executeUpdate("INSERT INTO t VALUES (1)")
                throw Stop()
            }
            #expect(try queue.inDatabase { $0.isInTransaction } == false)
        }
        isOver.open()
        ended.wait()
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        #expect(try count() == 1)
    }

    @Test func queueOfDeletedFileThrows() throws {
        try FileManager.default.removeItem(atPath: directory.file("test.db"))
        #expect { try queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") } } throws: {
            "\($0)".contains("removed or replaced")
        }
        try queue.close()
        // The next opening makes a new database.
        let again = try DatabaseQueue(path: directory.file("test.db"), key: .sample("another"))
        try again.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        let pool = try DatabasePool(path: directory.file("test.db"), key: .sample("another"))
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
        try FileManager.default.moveItem(atPath: directory.file("test.db"), toPath: directory.file("moved.db"))
        _ = try DatabaseQueue(path: directory.file("test.db"), key: .sample("third"))
        #expect(throws: DatabaseError.self) { try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } }
        #expect(throws: DatabaseError.self) { try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (1)") } }
        try pool.close()
    }

    /// In WAL mode the engine itself writes on.
    @Test(arguments: [JournalMode.delete, .wal])
    func databaseOfDeletedFileThrows(mode: JournalMode) throws {
        let path = directory.file("one.db")
        let database = Database(path: path, configuration: Configuration { $0.journalMode = mode })
        try database.open(key: .sample("k"))
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let insert = try database.prepare("INSERT INTO t VALUES (2)")
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        for write: () throws -> Void in [
            { try insert.executeUpdate() }, { try database.executeUpdate("INSERT INTO t VALUES (3)") },
            { try database.executeStatements("BEGIN; INSERT INTO t VALUES (4); COMMIT") },
            { try database.beginTransaction() },
            { try database.inTransaction { try $0.executeUpdate("DELETE FROM t") } },
            { try database.inSavePoint { try $0.executeUpdate("DELETE FROM t") } },
        ] {
            #expect { try write() } throws: { "\($0)".contains("removed or replaced") }
        }
        database.close()
        try database.open(key: .sample("another"))
        try database.executeStatements("CREATE TABLE t (a)")
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
    }

    @Test(arguments: [JournalMode.wal, .delete, .persist])
    func transactionOfDeletedFileIsNotCommitted(mode: JournalMode) throws {
        let path = directory.file("one.db")
        func open() throws -> Database {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
            let database = Database(path: path, configuration: Configuration { $0.journalMode = mode })
            try database.open(key: .sample("k"))
            try database.executeStatements("CREATE TABLE t (a)")
            return database
        }
        let writes: [(Database, @escaping @Sendable () throws -> Void) throws -> Void] = [
            { database, remove in
                try database.inTransaction {
                    try $0.executeUpdate("INSERT INTO t VALUES (1)")
                    try remove()
                }
            },
            { database, remove in
                try database.inSavePoint {
                    try $0.executeUpdate("INSERT INTO t VALUES (1)")
                    try remove()
                }
            },
            { database, remove in
                try database.executeStatements("BEGIN; INSERT INTO t VALUES (1)")
                try remove()
                try database.executeStatements("COMMIT")
            },
            { database, remove in
                try database.makeFunction(named: "remove", arguments: 0) { _ in
                    try remove()
                    return 1
                }
                try database.executeUpdate("INSERT INTO t VALUES (remove())")
            },
        ]
        for write in writes {
            let database = try open()
            #expect { try write(database) { try FileManager.default.removeItem(atPath: path) } } throws: {
                "\($0)".contains("removed or replaced") || ($0 as? DatabaseError)?.code.primary == .readOnly
            }
            #expect(!database.isInTransaction)
            database.close()
        }
    }

    @Test func reentrantCallThrows() throws {
        let other = try DatabaseQueue(path: nil)
        try queue.inDatabase { database in
            #expect(isMisuse { try queue.inDatabase { _ in } })
            #expect(isMisuse { try queue.inTransaction { _ in } })
            #expect(isMisuse { try queue.inSavePoint { _ in } })
            #expect(isMisuse { try queue.close() })
            #expect(isMisuse { try queue.rekey(.sample("new")) })
            #expect(isMisuse { _ = try queue.openConnection() })
            // Also by way of another queue.
            try other.inDatabase { _ in #expect(isMisuse { try queue.inDatabase { _ in } }) }
            try database.executeUpdate("INSERT INTO t VALUES (1)")
        }
        #expect(try count() == 1)
    }

    @Test func blocksOfManyThreadsRunOneAtTime() throws {
        let before = try count()
        let queue = queue
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            for _ in 0..<25 {
                try? queue.inTransaction { database in
                    let value: Int = try database.first("SELECT coalesce(max(a), 0) FROM t")
                    try database.executeUpdate("INSERT INTO t VALUES (?)", value + 1)
                }
            }
        }
        #expect(try count() == before + 400)
        let most: Int = try queue.inDatabase { try $0.first("SELECT max(a) FROM t") }
        #expect(most == 400, "no block saw what another had not finished")
    }

    @Test func manyTasksRunTheirBlocks() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in 0..<200 {
                group.addTask {
                    try await queue.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (?)", value) }
                }
            }
            try await group.waitForAll()
        }
        let sum: Int = try await queue.inDatabase { try $0.first("SELECT sum(a) FROM t") }
        #expect(sum == 19900)
    }

    @Test func cancelledTaskDoesNotBegin() async throws {
        let block = try await HeldBlock { [queue] hold in try? queue.inDatabase { _ in hold() } }
        let task = Task { [queue] in
            try await queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        }
        task.cancel()
        block.letGo()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count() == 0)
    }

    @Test func cancellingTaskInterruptsItsStatement() async throws {
        let started = Gate()
        let task = Task { [queue] in
            try await queue.inDatabase { database in
                try database.executeUpdate("INSERT INTO t VALUES (1)")
                started.open()
                try database.executeUpdate(
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                )
            }
        }
        try await started.waited()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count() == 1)
    }

    @Test func transactionCancelledBetweenTwoStatementsIsUndone() async throws {
        let started = Gate()
        let release = Gate()
        let task = Task { [queue] in
            try await queue.inTransaction { database in
                try database.executeUpdate("INSERT INTO t VALUES (1)")
                started.open()
                release.wait()
            }
        }
        try await started.waited()
        task.cancel()
        release.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count() == 0)
    }

    @Test func unfinishedTransactionIsRolledBackWithError() throws {
        #expect(throws: DatabaseError.self) {
            try queue.inDatabase { database in
                try database.beginTransaction()
                try database.executeUpdate("INSERT INTO t VALUES (1)")
            }
        }
        #expect(try count() == 0)
        #expect(throws: Stop.self) {
            try queue.inDatabase { database in
                try database.beginTransaction()
                throw Stop()
            }
        }
        #expect(try queue.inDatabase { $0.isInTransaction } == false)
    }

    @Test func resultSetsEndWithBlock() throws {
        try queue.inDatabase { try $0.executeStatements("INSERT INTO t VALUES (1), (2)") }
        nonisolated(unsafe) var kept: ResultSet?
        try queue.inDatabase { database in
            kept = try database.executeQuery("SELECT a FROM t")
            _ = try kept?.next()
        }
        // No lock is left behind: another connection can write.
        let other = try queue.openConnection()
        try other.executeUpdate("INSERT INTO t VALUES (3)")
        kept = nil
    }

    @Test func transactionRollsBackByFlag() throws {
        try queue.inTransaction { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            rollback = true
        }
        try queue.inSavePoint { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            rollback = true
        }
        #expect(try count() == 0)
        try queue.inSavePoint { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        #expect(try count() == 1)
    }

    @Test func closedQueueStaysClosed() async throws {
        try await queue.close()
        #expect(throws: DatabaseError.self) { try queue.inDatabase { _ in } }
        try await queue.close()
        await #expect(throws: DatabaseError.self) { try await queue.inDatabase { _ in } }
        queue.interrupt()
    }

    @Test func queueInMemoryNeedsNoKey() throws {
        let memory = try DatabaseQueue(path: ":memory:")
        try memory.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        #expect(memory.path == nil)
        #expect(throws: DatabaseError.self) { _ = try memory.openConnection() }
    }

    @Test func blockCannotOpenDatabaseWithoutItsKey() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.db")
        let queue = try DatabaseQueue(
            path: path,
            key: .sample("k"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        #expect {
            try queue.inDatabase { database in
                database.close()
                try FileManager.default.removeItem(atPath: path)
                try database.open()
            }
        } throws: { "\($0)".contains("without its key") }
        #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") } }
        let left = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
        #expect(left.isEmpty)
    }

    @Test func memoryURIHasOneConnection() throws {
        let queue = try DatabaseQueue(path: "file:x?mode=memory", flags: [.readWrite, .create, .uri])
        #expect(throws: DatabaseError.self) { _ = try queue.openConnection() }
    }
}
