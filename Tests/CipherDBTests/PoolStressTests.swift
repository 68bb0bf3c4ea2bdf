import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// Threads and tasks on one pool, with changes of key between them. `make torture` runs it for longer, by
/// `CIPHERDB_STRESS_SECONDS`, and under ThreadSanitizer.
@Suite(.slow, .timeLimit(.minutes(Extent.minutesOfAHang))) struct PoolStressTests {
    /// What every reading block must find: money moves between accounts and is never made or lost.
    private static let total = 10_000

    private final class Tally: Sendable {
        let written = Counter()
        let read = Counter()
        let torn = Counter()
        let failures = Lock<[String]>([])
        let deadline: ContinuousClock.Instant

        init(_ duration: Duration) {
            deadline = .now + duration
        }

        var isOver: Bool { ContinuousClock.now >= deadline }
    }

    @Test func concurrentUseDuringRekeys() async throws {
        let trials = RandomTrials("seconds of stress", "CIPHERDB_STRESS_SECONDS", rounds: Extent.share(of: 4))
        let seed = trials.seed
        let directory = try TemporaryDirectory()
        let pool = try await DatabasePool(
            path: directory.file("test.db"),
            key: .raw(SecretBytes.random(count: 32)),
            configuration: Configuration {
                $0.maximumReaders = 4
                $0.readerWaitingLimit = .seconds(60)
                $0.busyTimeout = .seconds(60)
            }
        )
        try await pool.write { database in
            try database.executeStatements(
                "CREATE TABLE account (id INTEGER PRIMARY KEY, balance); CREATE TABLE log (n)"
            )
            for id in 0..<10 { try database.executeUpdate("INSERT INTO account VALUES (?, ?)", id, Self.total / 10) }
        }
        let tally = Tally(.seconds(trials.rounds))
        let threads = (0..<8).map { number in
            Thread {
                var random = SplitMix(seed &+ UInt64(number))
                while !tally.isOver {
                    do {
                        if Bool.random(using: &random) {
                            try pool.read { try Self.look($0, tally) }
                        } else {
                            let move = Move(&random)
                            try pool.write { try move.make($0, tally.written.value) }
                            tally.written.add()
                        }
                    } catch {
                        tally.failures.withLock { $0.append("thread: \(error)") }
                    }
                }
            }
        }
        for thread in threads { thread.start() }
        let changes = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    var random = SplitMix(seed &+ 1000 &+ UInt64(number))
                    while !tally.isOver {
                        do {
                            if Int.random(in: 0..<4, using: &random) > 0 {
                                try await pool.read { try Self.look($0, tally) }
                            } else {
                                let move = Move(&random)
                                try await pool.write { try move.make($0, number) }
                                tally.written.add()
                            }
                        } catch {
                            tally.failures.withLock { $0.append("task: \(error)") }
                        }
                    }
                    return 0
                }
            }
            group.addTask {
                var changes = 0
                repeat {
                    try await Task.sleep(for: .milliseconds(trials.rounds * 1000 / 6))
                    try await pool.rekey(.raw(SecretBytes.random(count: 32)))
                    changes += 1
                } while !tally.isOver
                return changes
            }
            return try await group.reduce(0, +)
        }
        while threads.contains(where: { !$0.isFinished }) { try await Task.sleep(for: .milliseconds(5)) }
        let written = tally.written.value
        print("stress: \(tally.read.value) reads, \(written) writes, \(changes) changes of key")
        #expect(tally.failures.withLock { Array($0.prefix(3)) } == [])
        #expect(tally.torn.value == 0, "a reading block saw half a transaction, or two states")
        #expect(changes > 0 && written > 0 && tally.read.value > 0)
        let counted = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM log") }
        #expect(counted == written, "a write was lost, or made twice")
        #expect(try await pool.read { try $0.string(forQuery: "PRAGMA integrity_check") } == "ok")
        #expect(pool.readerCounts.inUse == 0 && pool.readerCounts.waiting == 0)
    }

    private static func look(_ database: Database, _ tally: Tally) throws {
        let sum = try database.int(forQuery: "SELECT sum(balance) FROM account")
        let first = try database.int(forQuery: "SELECT count(*) FROM log")
        let second = try database.int(forQuery: "SELECT count(*) FROM log")
        if sum != total || first != second { tally.torn.add() }
        tally.read.add()
    }

    /// Money that goes from one account to another, in two statements.
    private struct Move {
        let from: Int
        let into: Int
        let amount: Int

        init(_ random: inout SplitMix) {
            from = Int.random(in: 0..<10, using: &random)
            into = Int.random(in: 0..<10, using: &random)
            amount = Int.random(in: 1..<50, using: &random)
        }

        func make(_ database: Database, _ number: Int) throws {
            try database.executeUpdate("UPDATE account SET balance = balance - ? WHERE id = ?", amount, from)
            try database.executeUpdate("UPDATE account SET balance = balance + ? WHERE id = ?", amount, into)
            try database.executeUpdate("INSERT INTO log VALUES (?)", number)
        }
    }
}
