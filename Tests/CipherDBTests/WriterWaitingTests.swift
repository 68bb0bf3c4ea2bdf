import CipherSystem
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Blocks that wait for their turn on the connection that writes.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct WriterWaitingTests {
    enum Kind: CaseIterable, Sendable {
        case queue, pool
    }

    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let key = SampleKey.named("waiting").key

    private func database(_ kind: Kind, limit: Duration = .seconds(600)) throws -> any DatabaseWriter {
        let configuration = Configuration {
            $0.writerWaitingLimit = limit
            // Nothing here waits for the disk.
            $0.prepareDatabase = { try $0.executeStatements("PRAGMA synchronous = OFF") }
        }
        let database: any DatabaseWriter =
            switch kind {
            case .queue:
                try DatabaseQueue(path: directory.file("test.db"), key: Self.key, configuration: configuration)
            case .pool: try DatabasePool(path: directory.file("test.db"), key: Self.key, configuration: configuration)
            }
        try database.write { try $0.executeStatements("CREATE TABLE t (a)") }
        return database
    }

    private func waiting(_ database: any DatabaseWriter) -> Int {
        switch database {
        case let queue as DatabaseQueue: queue.turns.waiting
        case let pool as DatabasePool: pool.writer.turns.waiting
        default: 0
        }
    }

    /// A block of a thread, or of a task, that has the turn until it is let go.
    private func hold(_ database: any DatabaseWriter, inTask isTask: Bool = false) async throws -> HeldBlock {
        try await HeldBlock { hold in
            guard isTask else {
                _ = try? database.inDatabase { _ in hold() }
                return
            }
            let ended = DispatchSemaphore(value: 0)
            Task {
                try await database.inDatabase { _ in hold() }
                ended.signal()
            }
            ended.wait()
        }
    }

    private func values(_ database: any DatabaseWriter) throws -> [Int] {
        try database.read { try $0.fetchAll(Int.self, "SELECT a FROM t ORDER BY rowid") }
    }

    private func insert(_ number: Int, _ database: any DatabaseWriter) throws {
        try database.write { try $0.executeUpdate("INSERT INTO t VALUES (\(number))") }
    }

    private func inserting(_ number: Int, _ database: any DatabaseWriter) async throws {
        try await database.write { try $0.executeUpdate("INSERT INTO t VALUES (\(number))") }
    }

    @Test(arguments: Kind.allCases, [false, true])
    func cancelledWriterLeavesQueue(kind: Kind, behindTask: Bool) async throws {
        let database = try database(kind)
        let holder = try await hold(database, inTask: behindTask)
        let first = Task { try await inserting(1, database) }
        try await eventually { waiting(database) == 1 }
        let second = Task { try await inserting(2, database) }
        try await eventually { waiting(database) == 2 }
        first.cancel()
        // It returns while the turn is another's, and before the one behind it.
        #expect(try await first.ends())
        #expect(waiting(database) == 1)
        try await holder.end()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await second.value
        #expect(try values(database) == [2])
    }

    enum Stop: CaseIterable, Sendable {
        case cancellation, interruption, suspension
    }

    /// What waits for the lock of another connection. SQLite asks the busy handler alone meanwhile.
    enum Waiter: CaseIterable, Sendable {
        case statement, statementWithHandler, changeOfKey
    }

    @Test(arguments: Waiter.allCases, Stop.allCases)
    func waitForLockOfAnotherConnectionEnds(_ waiter: Waiter, by stop: Stop) async throws {
        for kind in Kind.allCases {
            let database = try database(kind)
            let isAsked = Lock(false)
            try await database.inDatabase {
                $0.busyTimeout = .seconds(600)
                guard waiter != .statement else { return }
                $0.setBusyHandler { _ in
                    isAsked.withLock { $0 = true }
                    Thread.sleep(forTimeInterval: 0.001)
                    return true
                }
            }
            let other = Database(path: directory.file("test.db"))
            try other.open(key: Self.key)
            defer { other.close() }
            try other.beginTransaction()
            let hasEnded = Lock(false)
            let task = Task {
                defer { hasEnded.withLock { $0 = true } }
                switch (waiter, database) {
                case (.changeOfKey, let queue as DatabaseQueue): try await queue.rekey(.sample("other"))
                case (.changeOfKey, let pool as DatabasePool): try await pool.rekey(.sample("other"))
                default:
                    try await database.inDatabase {
                        isAsked.withLock { $0 = true }
                        try $0.executeUpdate("INSERT INTO t VALUES (1)")
                    }
                }
            }
            try await eventually { isAsked.withLock { $0 } }
            switch stop {
            case .cancellation: task.cancel()
            case .suspension: try await database.suspend()
            case .interruption:
                try await eventually {
                    database.interrupt()
                    return hasEnded.withLock { $0 }
                }
            }
            #expect(try await task.ends())
            let error = await #expect(throws: (any Error).self) { try await task.value }
            switch stop {
            case .cancellation: #expect(error is CancellationError)
            case .interruption: #expect((error as? DatabaseError)?.code == .interrupted)
            case .suspension: #expect(error?.isOfSuspension == true)
            }
            try other.rollback()
            database.resume()
            try await inserting(2, database)
            #expect(try values(database) == [2])
            try await database.close()
            try FileManager.default.removeItem(atPath: directory.file("test.db"))
        }
    }

    @Test(arguments: Kind.allCases) func cancelledTaskDoesNotWaitForTurn(kind: Kind) async throws {
        let database = try database(kind)
        let holder = try await hold(database)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await inserting(1, database)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await holder.end()
        #expect(try values(database) == [])
    }

    @Test(arguments: Kind.allCases) func threadsAndTasksTakeTurnsInOrder(kind: Kind) async throws {
        let database = try database(kind)
        let holder = try await hold(database)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<20 {
            if number.isMultiple(of: 2) {
                tasks.append(Task { try await inserting(number, database) })
            } else {
                Thread { try? insert(number, database) }.start()
            }
            try await eventually { waiting(database) == number + 1 }
        }
        try await holder.end()
        for task in tasks { try await task.value }
        try await eventually { try values(database).count == 20 }
        #expect(try values(database) == Array(0..<20))
    }

    @Test(arguments: Kind.allCases) func writerWaitsUpToItsLimit(kind: Kind) async throws {
        let database = try database(kind, limit: .milliseconds(50))
        let holder = try await hold(database)
        let closing = Task { try await database.close() }
        try await eventually { waiting(database) == 1 }
        func isOverdue(_ error: any Error) -> Bool {
            (error as? DatabaseError)?.code == .busy && "\(error)".contains("Configuration.writerWaitingLimit")
        }
        let overdue = Task { try await inserting(1, database) }
        #expect(try await overdue.ends())
        let answer = Lock<(any Error)?>(nil)
        Thread {
            do { try insert(2, database) } catch { answer.withLock { $0 = error } }
        }.start()
        try await eventually { answer.withLock { $0 != nil } }
        #expect(answer.withLock { $0.map(isOverdue) } == true)
        // Closing has no limit.
        #expect(waiting(database) == 1)
        try await holder.end()
        await #expect { try await overdue.value } throws: { isOverdue($0) }
        try await closing.value
    }

    @Test(arguments: Kind.allCases) func longOperationHasNoLimit(kind: Kind) async throws {
        let database = try database(kind, limit: .seconds(1))
        let holder = try await HeldBlock { hold in
            _ = try? database.migrate([Migration("long") { _ in hold() }])
        }
        let writing = Task { try await inserting(1, database) }
        try await eventually { waiting(database) == 1 }
        // Many limits long.
        try await Task.sleep(for: .seconds(4))
        #expect(waiting(database) == 1)
        try await holder.end()
        try await writing.value
        #expect(try values(database) == [1])
    }

    @Test(arguments: Kind.allCases) func cancelledTasksLoseNoTurn(kind: Kind) async throws {
        let database = try database(kind)
        var random = SplitMix(48)
        let outcome = try await withThrowingTaskGroup(of: (Int, written: Bool).self) { group in
            var tasks: [Task<Void, any Error>] = []
            for number in 0..<1000 {
                let task = Task { try await inserting(number, database) }
                tasks.append(task)
                group.addTask {
                    do {
                        try await task.value
                        return (number, true)
                    } catch is CancellationError {
                        return (number, false)
                    }
                }
                if random.next() % 2 == 0 { tasks[Int(random.next() % UInt64(tasks.count))].cancel() }
                if random.next() % 8 == 0 { await Task.yield() }
            }
            return try await group.reduce(into: Set<Int>()) { if $1.written { $0.insert($1.0) } }
        }
        #expect(try Set(values(database)) == outcome)
        #expect(!outcome.isEmpty && waiting(database) == 0)
        // The turn is there for the next.
        try insert(1000, database)
    }

    @Test func waiterGetsPriorityOfItsTask() {
        let classes: [(TaskPriority, DispatchQoS)] = [
            (.high, .userInitiated), (.medium, .default), (.low, .utility), (.utility, .utility),
            (.background, .background),
            (TaskPriority(rawValue: 0x21), .userInteractive), (TaskPriority(rawValue: 0), .unspecified),
        ]
        for (priority, quality) in classes { #expect(DispatchQoS(priority) == quality) }
    }
}
