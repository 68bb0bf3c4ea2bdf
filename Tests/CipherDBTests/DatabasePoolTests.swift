import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct DatabasePoolTests {
    struct Stop: Error {}
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func pool(
        key: DatabaseKey? = nil,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabasePool {
        let pool = try DatabasePool(
            path: directory.file("test.db"),
            key: key ?? .sample("secret"),
            configuration: Configuration(change)
        )
        try pool.write { try $0.executeStatements("CREATE TABLE IF NOT EXISTS t (a)") }
        return pool
    }

    private func code(_ body: () throws -> Void) -> ResultCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DatabaseError)?.code
        }
    }

    /// As a relative path leads elsewhere after `chdir()`.
    @Test(.enabled(if: Engine.current.has(.renameColumn), "this engine follows the link each time"))
    func poolStaysWithItsFile() throws {
        let files = FileManager.default
        try pool().close()
        for name in ["one", "two"] {
            try files.createDirectory(atPath: directory.file(name), withIntermediateDirectories: false)
            try files.copyItem(atPath: directory.file("test.db"), toPath: directory.file("\(name)/test.db"))
        }
        try files.createSymbolicLink(atPath: directory.file("here"), withDestinationPath: directory.file("one"))
        let pool = try DatabasePool(path: directory.file("here/test.db"), key: .sample("secret"))
        try files.removeItem(atPath: directory.file("here"))
        try files.createSymbolicLink(atPath: directory.file("here"), withDestinationPath: directory.file("two"))
        try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
        try pool.suspend()
        pool.resume()
        try pool.rekey(.sample("new"))
        try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 2)
        try pool.close()
        let other = try DatabaseQueue(path: directory.file("two/test.db"), key: .sample("secret"))
        #expect(try other.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
    }

    @Test func readingBlockSeesOneSnapshot() throws {
        let pool = try pool()
        try pool.read { database in
            let before = try database.int(forQuery: "SELECT count(*) FROM t")
            let writer = Thread { try? pool.write { try $0.executeUpdate("INSERT INTO t VALUES (1)") } }
            writer.start()
            while !writer.isFinished { Thread.sleep(forTimeInterval: 0.001) }
            let after = try database.int(forQuery: "SELECT count(*) FROM t")
            #expect(before == 0 && after == 0)
        }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
    }

    @Test func readerCannotBecomeWritable() throws {
        let pool = try pool { $0.maximumReaders = 1 }
        for _ in 0..<2 {
            #expect(code { try pool.read { try $0.executeUpdate("INSERT INTO t VALUES (1)") } }?.primary == .readOnly)
        }
        #expect(
            code { try pool.read { try $0.executeStatements("PRAGMA query_only = OFF") } }?.primary == .notAuthorized
        )
        // Nor outside of the block's transaction.
        #expect(
            code { try pool.read { try $0.executeStatements("COMMIT; INSERT INTO t VALUES (1)") } }
                == .abortedByRollback
        )
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
    }

    @Test func readerReleasedToClosedPoolIsClosed() throws {
        let pool = try pool()
        let (isIn, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // Used by one thread at a time: the semaphores stand between.
        nonisolated(unsafe) var reader: Database?
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? pool.read { database in
                reader = database
                isIn.signal()
                mayEnd.wait()
            }
            ended.signal()
        }
        isIn.wait()
        try pool.close()
        #expect(reader?.connection != nil)
        mayEnd.signal()
        ended.wait()
        #expect(reader != nil && reader?.connection == nil && pool.readerCounts.open == 0)
    }

    @Test func writingBlocksAreTransactionsOneAfterOther() throws {
        let pool = try pool()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<25 {
                try? pool.write { database in
                    let most = try database.int(forQuery: "SELECT coalesce(max(a), 0) FROM t") ?? 0
                    try database.executeUpdate("INSERT INTO t VALUES (?)", most + 1)
                }
            }
        }
        #expect(try pool.read { try $0.int(forQuery: "SELECT max(a) FROM t") } == 200)
        #expect(throws: Stop.self) {
            try pool.write { database in
                try database.executeUpdate("DELETE FROM t")
                throw Stop()
            }
        }
        try pool.inTransaction(.exclusive) { database, rollback in
            try database.executeUpdate("DELETE FROM t")
            rollback = true
        }
        try pool.inSavePoint { database, rollback in
            try database.executeUpdate("DELETE FROM t")
            rollback = true
        }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 200)
        try pool.inDatabase { try $0.executeStatements("VACUUM") }
    }

    @Test func readersOpenOnDemandWithoutDeriving() throws {
        let pool = try pool(key: .passphrase("secret")) { $0.maximumReaders = 3 }
        #expect(pool.readerCounts == (0, 0, 0))
        let derived = KeyDerivation.passphraseCount
        let inside = Counter()
        let most = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<100 {
                try? pool.read { database in
                    let now = inside.add()
                    most.raise(to: now)
                    _ = try database.int(forQuery: "SELECT count(*) FROM t")
                    inside.add(-1)
                }
            }
        }
        #expect(most.value <= 3)
        #expect(pool.readerCounts.open <= 3 && pool.readerCounts.inUse == 0)
        // Other tests derive at the same time, so that the count may rise, but not by what 800 readers would cost.
        #expect(KeyDerivation.passphraseCount - derived < 600)
        pool.releaseReaders()
        #expect(pool.readerCounts == (0, 0, 0))
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
    }

    @Test func waitForReaderTimesOut() async throws {
        let pool = try pool {
            $0.maximumReaders = 1
            $0.readerWaitingLimit = .milliseconds(30)
        }
        let ran = Gate()
        let block = try await HeldBlock { hold in try? pool.read { _ in hold() } }
        func message(_ body: () async throws -> Void) async -> String {
            do {
                try await body()
                return "no error"
            } catch {
                #expect((error as? DatabaseError)?.code == .busy)
                return "\(error)"
            }
        }
        func sync() throws { try pool.read { _ in ran.open() } }
        #expect(await message { try sync() }.contains("maximumReaders"))
        #expect(
            await message { try await pool.read { _ in ran.open() } }.contains(
                "maximumReaders"
            )
        )
        #expect(pool.readerCounts == (1, 1, 0))
        try await block.end()
        #expect(try await pool.read { try $0.int(forQuery: "SELECT 1") } == 1)
        #expect(!ran.passed)
    }

    @Test func manyTasksReadAndWrite() async throws {
        let pool = try pool {
            $0.maximumReaders = 2
            // However busy the machine is.
            ($0.readerWaitingLimit, $0.writerWaitingLimit) = (.seconds(600), .seconds(600))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in 0..<200 {
                group.addTask {
                    if value.isMultiple(of: 2) {
                        try await pool.write { try $0.executeUpdate("INSERT INTO t VALUES (?)", value) }
                    } else {
                        _ = try await pool.read { try $0.int(forQuery: "SELECT sum(a) FROM t") }
                    }
                }
            }
            try await group.waitForAll()
        }
        let sum = try await pool.read { try $0.int(forQuery: "SELECT sum(a) FROM t") }
        #expect(sum == 9900)
    }

    /// A task with a reading block that does not end by itself.
    private func endlessReading(_ pool: DatabasePool) async throws -> Task<Void, any Error> {
        let started = Gate()
        let task = Task {
            try await pool.read { database in
                started.open()
                _ = try database.int(
                    forQuery: "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                )
            }
        }
        try await started.waited()
        return task
    }

    @Test func cancellingTaskInterruptsItsReading() async throws {
        let pool = try pool()
        let task = try await endlessReading(pool)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pool.readerCounts.inUse == 0)
    }

    @Test func cancelledWaiterLeavesQueue() async throws {
        let pool = try pool {
            $0.maximumReaders = 1
            $0.readerWaitingLimit = .seconds(600)
        }
        let ran = Gate()
        let block = try await HeldBlock { hold in try? pool.read { _ in hold() } }
        let task = Task { try await pool.read { _ in ran.open() } }
        while pool.readerCounts.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pool.readerCounts == (1, 1, 0))
        block.letGo()
        let cancelled = Task {
            try? await Task.sleep(for: .seconds(100))
            try await pool.read { _ in ran.open() }
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(!ran.passed)
    }

    @Test func interruptingPoolStopsItsReaders() async throws {
        let pool = try pool()
        let task = try await endlessReading(pool)
        let ended = Gate()
        let watcher = Task {
            defer { ended.open() }
            try await task.value
        }
        // Until the statement runs there is nothing to interrupt.
        while !ended.passed {
            pool.interrupt()
            try await Task.sleep(for: .milliseconds(5))
        }
        await #expect { try await watcher.value } throws: { ($0 as? DatabaseError)?.code.primary == .interrupted }
    }

    @Test func readerThatIsRefusedTakesNoPlace() throws {
        let ran = Gate()
        let asked = Lock(0)
        let refuse = Lock(true)
        let pool = try pool {
            $0.maximumReaders = 1
            $0.shouldAddReader = { _ in
                asked.withLock { $0 += 1 }
                return refuse.withLock { !$0 }
            }
        }
        for _ in 0..<3 { #expect(code { try pool.read { _ in ran.open() } } == .misuse) }
        #expect(pool.readerCounts == (0, 0, 0))
        #expect(!ran.passed)
        refuse.withLock { $0 = false }
        for _ in 0..<3 { #expect(try pool.read { try $0.int(forQuery: "SELECT 1") } == 1) }
        #expect(asked.withLock { $0 } == 4, "once for each new reader")
    }

    @Test func closingReaderLeavesOtherReaders() throws {
        let pool = try pool { $0.maximumReaders = 1 }
        try pool.read { $0.close() }
        #expect(pool.readerCounts == (0, 0, 0))
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
    }

    /// A task that gets a reader while Swift's threads are all blocked must not keep it from others.
    @Test func waitingTaskHoldsNoReader() async throws {
        let pool = try pool {
            $0.maximumReaders = 1
            $0.readerWaitingLimit = .seconds(600)
        }
        let (held, letGo, enough) = (Gate(), Gate(), Gate())
        Thread.detachNewThread {
            try? pool.read { _ in
                held.open()
                letGo.wait()
            }
        }
        try await held.waited()
        Task { _ = try? await pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } }
        while pool.readerCounts.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        for _ in 0..<(ProcessInfo.processInfo.activeProcessorCount + 2) { Task { enough.wait() } }
        defer { enough.open() }
        func readNow() throws -> Int? {
            Thread.sleep(forTimeInterval: 0.05)
            letGo.open()
            return try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
        }
        #expect(try readNow() != nil)
    }

    @Test func closedPoolThrows() async throws {
        let pool = try pool()
        _ = try await pool.read { try $0.int(forQuery: "SELECT 1") }
        try await pool.close()
        #expect(code { try pool.read { _ in } } == .misuse)
        #expect(code { try pool.write { _ in } } == .misuse)
        await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
        #expect(throws: DatabaseError.self) { try pool.rekey(.sample("new")) }
        #expect(directory.names == ["test.db"], "the last connection takes the log with it")
    }

    @Test func unpoolableDatabaseIsRefused() throws {
        #expect(throws: DatabaseError.self) { try self.pool { $0.maximumReaders = 0 } }
        expect(throws: KeyError.keyMissing) { try DatabasePool(path: directory.file("new.db")) }
        #expect(directory.names.isEmpty)
        try pool().close()
        expect(throws: KeyError.wrongKey) { try DatabasePool(path: directory.file("test.db"), key: .sample("wrong")) }
    }

    @Test func poolForReadingOnlyReads() throws {
        let writing = try pool()
        try writing.write { try $0.executeUpdate("INSERT INTO t VALUES (5)") }
        let pool = try DatabasePool(path: directory.file("test.db"), key: .sample("secret"), flags: .readOnly)
        #expect(try pool.read { try $0.int(forQuery: "SELECT a FROM t") } == 5)
        #expect(code { try pool.inDatabase { try $0.executeUpdate("DELETE FROM t") } }?.primary == .readOnly)
    }

    @Test func reopenedReaderIsDiscarded() throws {
        let pool = try pool()
        _ = try pool.read { database in
            database.close()
            try database.open()
        }
        #expect(pool.readerCounts.open == 0)
        #expect(try pool.read { try $0.int(forQuery: "SELECT 1") } == 1)
    }

    @Test func cancelledTaskDoesNotWait() async throws {
        let pool = try pool {
            $0.maximumReaders = 1; $0.readerWaitingLimit = .seconds(60)
        }
        let block = try await HeldBlock { hold in try? pool.read { _ in hold() } }
        let begin = Gate()
        let task = Task {
            try? await begin.waited()
            return try await pool.read { try $0.int(forQuery: "SELECT 1") }
        }
        task.cancel()
        begin.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pool.readerCounts.waiting == 0)
        block.letGo()
    }

    @Test func writerCallsHaveAsyncVersions() async throws {
        let pool = try pool()
        try await pool.inDatabase { try $0.executeStatements("CREATE TABLE forms (a)") }
        try await pool.inTransaction { try $0.executeUpdate("INSERT INTO forms VALUES (1)") }
        #expect(try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM forms") } == 1)
    }
}
