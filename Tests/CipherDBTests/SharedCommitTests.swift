import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Blocks that wait for each other's turn, and share a commit.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct SharedCommitTests {
    typealias Block = @Sendable (Database, _ rollback: inout Bool) throws -> Void
    struct Stop: Error {}

    let directory: TemporaryDirectory
    static let key = SampleKey.named("shared").key

    init() throws {
        directory = try TemporaryDirectory()
    }

    func queue(_ mode: JournalMode = .wal, shares: Bool = true, name: String = "test.db") throws
        -> DatabaseQueue
    {
        let configuration = Configuration {
            $0.journalMode = mode
            $0.sharesCommits = shares
            $0.busyTimeout = .milliseconds(50)
            // Longer than the tests that occupy the pool.
            $0.writerWaitingLimit = .seconds(60 * Extent.minutesOfAHang)
            // Nothing here waits for the disk.
            $0.prepareDatabase = { try $0.executeStatements("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON") }
        }
        let queue = try DatabaseQueue(path: directory.file(name), key: Self.key, configuration: configuration)
        // Only the number of blocks ends a transaction here.
        queue.sharedCommits.longest = .seconds(600)
        try queue.inDatabase {
            try $0.executeStatements(
                """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE parents (id INTEGER PRIMARY KEY);
                CREATE TABLE children (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
                CREATE TABLE orphans (parent REFERENCES parents); CREATE TABLE strict (a UNIQUE ON CONFLICT ROLLBACK)
                """
            )
        }
        return queue
    }

    /// Runs blocks that all wait while another has the turn.
    ///
    /// - Returns: What each came to, and how many commits there were.
    func together(
        _ queue: DatabaseQueue,
        _ blocks: [Block],
        whenAllWait: (_ tasks: [Task<Void, any Error>]) async throws -> Void = { _ in },
        returned: @escaping @Sendable (_ index: Int) -> Void = { _ in }
    ) async throws -> (outcomes: [Result<Void, any Error>], commits: Int) {
        let held = try await HeldBlock { hold in _ = try? queue.inDatabase { _ in hold() } }
        var tasks: [Task<Void, any Error>] = []
        for (index, block) in blocks.enumerated() {
            tasks.append(
                Task {
                    try await queue.inTransaction { try block($0, &$1) }
                    returned(index)
                }
            )
            while queue.turns.waiting < tasks.count { try await Task.sleep(for: .microseconds(50)) }
        }
        let before = queue.log.commit
        try await whenAllWait(tasks)
        try await held.end()
        var outcomes: [Result<Void, any Error>] = []
        for task in tasks { outcomes.append(await task.result) }
        return (outcomes, queue.log.commit - before)
    }

    func inserting(_ id: Int) -> Block {
        { database, _ in try database.executeUpdate("INSERT INTO t (id) VALUES (\(id))") }
    }

    func stored(_ queue: DatabaseQueue) async throws -> [Int] {
        try await queue.inDatabase { try $0.fetchAll(Int.self, "SELECT id FROM t ORDER BY id") }
    }

    func isStored(_ outcome: Result<Void, any Error>) -> Bool { (try? outcome.get()) != nil }

    // MARK: What they share

    @Test(arguments: [JournalMode.wal, .delete])
    func waitingBlocksCommitOnce(mode: JournalMode) async throws {
        let queue = try queue(mode)
        let (outcomes, commits) = try await together(queue, (1...20).map(inserting))
        #expect(outcomes.allSatisfy(isStored) && commits == 1)
        #expect(try await stored(queue) == Array(1...20))
    }

    @Test func threadsShareCommitWithTasks() async throws {
        let queue = try queue()
        let before = queue.log.commit
        let held = try await HeldBlock { hold in _ = try? queue.inDatabase { _ in hold() } }
        let ended = Counter()
        for id in 1...6 {
            if id.isMultiple(of: 2) {
                Thread {
                    if (try? queue.write { try $0.executeUpdate("INSERT INTO t (id) VALUES (\(id))") }) != nil {
                        ended.add()
                    }
                }.start()
            } else {
                Task {
                    try await queue.write { _ = try $0.executeUpdate("INSERT INTO t (id) VALUES (\(id))") }
                    ended.add()
                }
            }
        }
        while queue.turns.waiting < 6 { try await Task.sleep(for: .milliseconds(1)) }
        try await held.end()
        while ended.value < 6 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(queue.log.commit - before == 1)
        #expect(try await stored(queue) == Array(1...6))
    }

    @Test func commitIsSharedByBoundedNumber() async throws {
        let queue = try queue()
        let count = 2 * SharedCommits.maximumBlocks + 1
        let (outcomes, commits) = try await together(queue, (1...count).map(inserting))
        #expect(outcomes.allSatisfy(isStored) && commits == 3)
    }

    @Test func blocksThatFailKeepNoLock() async throws {
        let queue = try queue()
        queue.sharedCommits.longest = .milliseconds(10)
        let failing = [Block](repeating: { _, _ in throw Stop() }, count: SharedCommits.maximumBlocks)
        let late: Block = { _, _ in
            Thread.sleep(forTimeInterval: 0.02); throw Stop()
        }
        let checking: Block = { database, _ in
            // The first one's commit is done: this block has a transaction of its own.
            #expect(database.connection?.sharing == .alone)
            throw Stop()
        }
        let (outcomes, commits) = try await together(queue, [inserting(1), late] + failing + [checking])
        #expect(isStored(outcomes[0]) && !outcomes.dropFirst().contains(where: isStored) && commits == 1)
    }

    enum Reason: CaseIterable { case setting, commitHook, authorizer }

    @Test(arguments: Reason.allCases)
    func blocksCommitAloneWhereAsked(reason: Reason) async throws {
        let queue = try queue(shares: reason != .setting)
        let hooked = Counter()
        try await queue.inDatabase { database in
            switch reason {
            case .setting: break
            case .commitHook:
                database.setCommitHook {
                    hooked.add()
                    return true
                }
            case .authorizer: database.setAuthorizer { $0.kind == .savepoint ? .ignore : .allow }
            }
        }
        let (outcomes, commits) = try await together(queue, (1...5).map(inserting))
        #expect(outcomes.allSatisfy(isStored) && commits == 5 && hooked.value == (reason == .commitHook ? 5 : 0))
    }

    // MARK: What each does alone

    enum End: CaseIterable {
        case stored, thrown, undone, unresolved, rolledBack, rolledBackBySQL, committed, undoneInside, refused,
            deferring, deferringThrown, orphaned, savePointLeft, savePointTaken

        func block(_ id: Int) -> Block {
            { database, rollback in
                try database.executeUpdate("INSERT INTO t (id) VALUES (\(id))")
                switch self {
                case .stored: break
                case .thrown: throw Stop()
                case .undone: rollback = true
                case .unresolved: try database.executeUpdate("INSERT INTO children VALUES (\(id))")
                case .rolledBack:
                    try database.rollback()
                    #expect(!database.isInTransaction)
                    try? database.executeUpdate("INSERT INTO t (id) VALUES (\(id + 100))")
                case .rolledBackBySQL:
                    try database.executeStatements("ROLLBACK; INSERT INTO t (id) VALUES (\(id + 100))")
                case .committed:
                    try database.executeStatements("COMMIT")
                    try? database.executeUpdate("INSERT INTO t (id) VALUES (\(id + 100))")
                case .undoneInside:
                    try database.inSavePoint { database, rollback in
                        try database.executeUpdate("INSERT INTO t (id) VALUES (\(id + 100))")
                        rollback = true
                    }
                case .refused: try? database.executeUpdate("INSERT INTO t (id) VALUES (\(id)), (\(id + 100))")
                case .deferring:
                    try database.executeStatements("PRAGMA defer_foreign_keys = ON")
                    try database.executeUpdate("INSERT INTO t (id, a) VALUES (\(id + 100), \(database.changes))")
                case .deferringThrown:
                    try database.executeStatements("PRAGMA defer_foreign_keys = ON")
                    throw Stop()
                case .savePointLeft:
                    try database.executeStatements("SAVEPOINT own; INSERT INTO t (id) VALUES (\(id + 100))")
                case .savePointTaken: try database.executeStatements("ROLLBACK TO own")
                case .orphaned:
                    if (try? database.executeUpdate("INSERT INTO orphans VALUES (\(id))")) == nil {
                        try database.executeUpdate("INSERT INTO t (id) VALUES (\(id + 100))")
                    }
                }
            }
        }
    }

    private func outcomes(_ ends: [End], _ queue: DatabaseQueue) async throws -> [String] {
        let blocks = ends.enumerated().map { $1.block($0 + 1) }
        let (outcomes, _) = try await together(queue, blocks)
        let errors = outcomes.map { outcome in
            switch outcome {
            case .success: "stored"
            case .failure(let error as DatabaseError): "\(error.code.primary)"
            case .failure(let error): "\(type(of: error))"
            }
        }
        let rows = try await stored(queue).map(String.init)
        try await queue.inDatabase {
            try $0.executeStatements("DELETE FROM t; DELETE FROM children; DELETE FROM orphans")
        }
        return errors + rows
    }

    @Test(arguments: Extent.share(Extent.pairs([JournalMode.wal, .delete], End.allCases)))
    func everySequenceEndsAsAlone(mode: JournalMode, first: End) async throws {
        let (shared, alone) = (try queue(mode), try queue(mode, shares: false, name: "alone.db"))
        for second in End.allCases {
            for third in End.allCases {
                let ends = [first, second, third, .stored]
                let (found, expected) = (try await outcomes(ends, shared), try await outcomes(ends, alone))
                #expect(found == expected, "\(ends)")
            }
        }
    }

    @Test func actionAfterCommitRunsInItsBlock() async throws {
        let queue = try queue()
        let seen = Counter()
        let acting: Block = { database, _ in
            try database.executeUpdate("INSERT INTO t (id) VALUES (2)")
            try database.afterCommit {
                #expect(!database.isInTransaction)
                seen.add((try? database.first("SELECT count(*) FROM t")) ?? 0)
            }
        }
        let (outcomes, commits) = try await together(queue, [inserting(1), acting, inserting(3)])
        #expect(outcomes.allSatisfy(isStored) && seen.value == 2 && commits == 2)
    }

    @Test(arguments: [false, true]) func stoppedWriteUndoesItselfOnly(byCancellation: Bool) async throws {
        let queue = try queue()
        let (begun, isCancelled) = (Gate(), Gate())
        let long: Block = { database, _ in
            try database.makeFunction(named: "await_cancellation", arguments: 0) { _ in
                begun.open()
                isCancelled.wait()
                return 1
            }
            try database.executeUpdate(
                """
                WITH RECURSIVE c (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM c WHERE i < 1000)
                INSERT INTO t (id) SELECT i FROM c WHERE await_cancellation() = 1
                """
            )
        }
        let (outcomes, _) = try await together(queue, [inserting(1), long, inserting(2)]) { tasks in
            Task {
                try await begun.waited()
                if byCancellation { tasks[1].cancel() } else { queue.interrupt() }
                isCancelled.open()
            }
        }
        #expect(isStored(outcomes[0]) && !isStored(outcomes[1]) && isStored(outcomes[2]))
        #expect(try await stored(queue) == [1, 2])
    }

    /// An index keeps in memory what the transaction wrote, until a savepoint begins.
    @Test(arguments: FullTextCheckTests.modules) func undoneBlockLeavesNothingInIndex(module: String) async throws {
        let queue = try queue()
        try await queue.write {
            try $0.executeStatements("CREATE VIRTUAL TABLE notes USING \(raw: module)(text)")
        }
        func noting(_ id: Int, _ error: Stop? = nil) -> Block {
            { database, _ in
                try database.executeUpdate("INSERT INTO notes VALUES ('all number\(raw: "\(id)")')")
                if let error { throw error }
            }
        }
        let (outcomes, commits) = try await together(
            queue,
            [noting(1), noting(2, Stop()), noting(3), noting(4, Stop())]
        )
        #expect(outcomes.map(isStored) == [true, false, true, false] && commits == 1)
        let found = try await queue.inDatabase {
            try $0.fetchAll(String.self, "SELECT text FROM notes WHERE notes MATCH 'all' ORDER BY rowid")
        }
        #expect(found == ["all number1", "all number3"])
    }

    @Test func blockThatReopensIsRefused() async throws {
        let queue = try queue()
        let reopening: Block = { database, _ in
            try database.executeUpdate("INSERT INTO t (id) VALUES (1)")
            database.close()
            try database.open(key: Self.key)
        }
        let (outcomes, _) = try await together(queue, [reopening, inserting(2), inserting(3)])
        #expect(!isStored(outcomes[0]) && isStored(outcomes[1]) && isStored(outcomes[2]))
        #expect(try await stored(queue) == [2, 3])
    }

    @Test(arguments: [false, true]) func interruptionBetweenStatementsSparesOthers(isCancelled: Bool) async throws {
        let queue = try queue()
        let (begun, isInterrupted) = (Gate(), Gate())
        let reading: Block = { database, _ in
            // SQLite stops what it compiles, too, which undoes nothing.
            let insert = try database.prepare("INSERT INTO t (id) VALUES (10)")
            let rows = try database.executeQuery("SELECT id FROM t")
            #expect(try rows.next())
            begun.open()
            isInterrupted.wait()
            try insert.executeUpdate()
            _ = try rows.next()
        }
        let (outcomes, _) = try await together(queue, [inserting(1), reading, inserting(2)]) { tasks in
            Task {
                try await begun.waited()
                if isCancelled { tasks[1].cancel() } else { queue.interrupt() }
                isInterrupted.open()
            }
        }
        #expect(isStored(outcomes[0]) && isStored(outcomes[2]))
        #expect(try await stored(queue) == (isStored(outcomes[1]) ? [1, 2, 10] : [1, 2]))
    }

    /// The system ends an app that keeps a lock.
    @Test func suspensionStopsSharedWriter() async throws {
        let queue = try queue()
        let begun = Gate()
        let endless: Block = { database, _ in
            begun.open()
            try database.executeUpdate(
                "WITH RECURSIVE c (i) AS (SELECT 10 UNION ALL SELECT 10 FROM c) INSERT OR REPLACE INTO t (id) SELECT i FROM c"
            )
        }
        let (outcomes, _) = try await together(queue, [inserting(1), endless, inserting(2)]) { _ in
            Task {
                try await begun.waited()
                try await queue.suspend()
            }
        }
        #expect(!outcomes.contains(where: isStored))
        queue.resume()
        #expect(try await stored(queue) == [])
    }

    enum Leftover: CaseIterable {
        case blob, returning
    }

    /// SQLite ends no savepoint beside them.
    @Test(arguments: Leftover.allCases, [false, true])
    func openWriterEndsWithItsBlock(_ leftover: Leftover, fails: Bool) async throws {
        guard leftover == .blob || Engine.current.has(.returning) else { return }
        let queue = try queue()
        try await queue.inDatabase {
            try $0.executeStatements("CREATE TABLE b (id INTEGER PRIMARY KEY, data); INSERT INTO b VALUES (1, x'00')")
        }
        // Only the block that has the turn uses it.
        nonisolated(unsafe) let kept = NSMutableArray()
        let leaving: Block = { database, _ in
            switch leftover {
            case .blob: kept.add(try database.openBlob(inTable: "b", column: "data", row: 1, writable: true))
            case .returning:
                let rows = try database.executeQuery("INSERT INTO t (id) VALUES (7), (8) RETURNING id")
                #expect(try rows.next())
                kept.add(rows)
            }
            if fails { throw Stop() }
        }
        let inner: Block = { database, rollback in
            try? database.inSavePoint { try leaving($0, &rollback) }
            try database.executeUpdate("INSERT INTO t (id) VALUES (3)")
        }
        let (outcomes, commits) = try await together(queue, [inserting(1), leaving, inner, inserting(2)])
        #expect(outcomes.map(isStored) == [true, !fails, true, true] && commits == 1)
        if fails, case .failure(let error) = outcomes[1] { #expect(error is Stop) }
        #expect(try await stored(queue) == (leftover == .returning && !fails ? [1, 2, 3, 7, 8] : [1, 2, 3]))
    }

    @Test func interruptStopsQueryOfSharedBlock() async throws {
        let queue = try queue()
        let (begun, hasEnded) = (Gate(), Gate())
        let endless: Block = { database, _ in
            begun.open()
            defer { hasEnded.open() }
            _ = try database.int(
                forQuery: "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"
            )
        }
        let (outcomes, _) = try await together(queue, [inserting(1), endless, inserting(2)]) { _ in
            Task {
                try await begun.waited()
                while !hasEnded.passed {
                    queue.interrupt()
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
        #expect(isStored(outcomes[0]) && !isStored(outcomes[1]) && isStored(outcomes[2]))
        #expect(try await stored(queue) == [1, 2])
    }

    /// Who was refused because of rows that it saw finds them committed.
    @Test(arguments: [false, true]) func refusedBlockWaitsForWhatItSaw(undoes: Bool) async throws {
        let queue = try queue()
        let (isOver, wasOver) = (Gate(), Lock<Bool?>(nil))
        let held = try await HeldBlock { hold in _ = try? queue.inDatabase { _ in hold() } }
        let first = Task { try await queue.write { try $0.executeUpdate("INSERT INTO t (id) VALUES (1)") } }
        while queue.turns.waiting < 1 { try await Task.sleep(for: .microseconds(50)) }
        let second = Task {
            try? await queue.inTransaction { database, rollback in
                rollback = undoes
                try database.executeUpdate("INSERT INTO t (id) VALUES (\(undoes ? 2 : 1))")
            }
            wasOver.withLock { $0 = isOver.passed }
        }
        while queue.turns.waiting < 2 { try await Task.sleep(for: .microseconds(50)) }
        let third = Task {
            try await queue.write { _ in
                Thread.sleep(forTimeInterval: 0.1)
                isOver.open()
            }
        }
        while queue.turns.waiting < 3 { try await Task.sleep(for: .microseconds(50)) }
        try await held.end()
        try await first.value
        await second.value
        try await third.value
        #expect(wasOver.withLock { $0 } == true)
        #expect(try await stored(queue) == [1])
    }

    // MARK: How it fails

    @Test func failedCommitIsToldToEach() async throws {
        let queue = try queue(.delete)
        let reader = try queue.openConnection()
        try reader.beginTransaction(.deferred)
        let _: Int = try reader.first("SELECT count(*) FROM t")
        // The second may have thrown because of the row that it saw.
        let (outcomes, commits) = try await together(queue, [inserting(1), { _, _ in throw Stop() }, inserting(2)])
        for outcome in outcomes {
            #expect { try outcome.get() } throws: { ($0 as? DatabaseError)?.code.primary == .busy }
        }
        try reader.rollback()
        #expect(try await stored(queue).isEmpty && commits == 0)
        try await queue.write { _ = try $0.executeUpdate("INSERT INTO t (id) VALUES (9)") }
        #expect(try await stored(queue) == [9])
    }

    @Test func transactionThatSQLiteRollsBackIsToldToEach() async throws {
        let queue = try queue()
        try await queue.write { _ = try $0.executeUpdate("INSERT INTO strict VALUES (1)") }
        let strict: Block = { database, _ in try database.executeUpdate("INSERT INTO strict VALUES (1)") }
        let (outcomes, _) = try await together(queue, [inserting(1), inserting(2), strict, inserting(3)])
        for outcome in outcomes[..<2] {
            #expect { try outcome.get() } throws: { ($0 as? DatabaseError)?.code == .abortedByRollback }
        }
        #expect { try outcomes[2].get() } throws: { ($0 as? DatabaseError)?.code == .constraintUnique }
        #expect(isStored(outcomes[3]))
        #expect(try await stored(queue) == [3])
    }

    @Test func failureOfDiskIsToldToEach() async throws {
        let queue = try queue()
        try await queue.write { _ = try $0.executeUpdate("INSERT INTO strict VALUES (1)") }
        let failing: Block = { database, _ in
            try? database.executeUpdate("INSERT INTO strict VALUES (1)")
            throw DatabaseError(code: .full, message: "no room")
        }
        let (outcomes, _) = try await together(queue, [inserting(1), failing])
        for outcome in outcomes {
            #expect { try outcome.get() } throws: {
                ($0 as? DatabaseError)?.code == .full && ($0 as? DatabaseError)?.message.hasSuffix("no room") == true
            }
        }
        #expect(try await stored(queue) == [])
    }

    @Test func closingCommitsWhatWasLeft() async throws {
        let queue = try queue()
        let held = try await HeldBlock { hold in _ = try? queue.inDatabase { _ in hold() } }
        let tasks = (1...3).map { id in
            Task { try await queue.write { _ = try $0.executeUpdate("INSERT INTO t (id) VALUES (\(id))") } }
        }
        while queue.turns.waiting < 3 { try await Task.sleep(for: .milliseconds(1)) }
        let reader = try queue.openReader()
        let closing = Task { try await queue.close() }
        while queue.turns.waiting < 4 { try await Task.sleep(for: .milliseconds(1)) }
        try await held.end()
        for task in tasks { try await task.value }
        try await closing.value
        #expect(try reader.first("SELECT count(*) FROM t") == 3)
    }

    @Test func restIsEndedWhereNobodyWaits() throws {
        let turns = TurnQueue(limit: nil)
        let ended = Counter()
        try turns.run {
            turns.rest = {
                ended.add()
                turns.rest = nil
            }
        }
        #expect(ended.value == 1)
        try turns.run {}
        #expect(ended.value == 1)
    }
}
