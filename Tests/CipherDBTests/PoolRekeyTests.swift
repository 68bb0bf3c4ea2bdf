import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct PoolRekeyTests {
    let directory: TemporaryDirectory
    let pool: DatabasePool

    /// Long enough for all readers of a busy machine.
    private static let limit = Duration.seconds(10)

    init() throws {
        directory = try TemporaryDirectory()
        pool = try DatabasePool(
            path: directory.file("test.db"),
            key: .sample("old"),
            configuration: Configuration {
                $0.maximumReaders = 2
                $0.readerWaitingLimit = Self.limit
            }
        )
        try pool.write { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    }

    private func count() throws -> Int? { try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } }

    private func opens(_ key: String) -> Bool {
        let database = Database(path: directory.file("test.db"))
        return (try? database.open(key: .sample(key), flags: .readWrite)) != nil
    }

    @Test func rekeyAppliesToEveryConnection() throws {
        #expect(try count() == 1)
        try pool.rekey(.sample("new"))
        #expect(opens("new") && !opens("old"))
        #expect(pool.readerCounts.open == 0, "no reader under the old key is left")
        #expect(try count() == 1)
        try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        #expect(try count() == 2)
        try pool.rekey(.sample("newer"))
        #expect(try count() == 2)
        #expect(opens("newer") && !opens("new"))
    }

    @Test func slowReaderStopsRekeyOnly() async throws {
        let block = try await HeldBlock { [pool] hold in
            try? pool.read { database in
                _ = try database.int(forQuery: "SELECT count(*) FROM t")
                hold()
            }
        }
        do {
            try await pool.rekey(.sample("new"), within: .milliseconds(30))
            Issue.record("no error")
        } catch let error as RekeyError where error.code == .notStarted {
            #expect("\(error)".contains("1 reading block") && "\(error)".hasPrefix(pool.path ?? "?"))
        }
        #expect(opens("old") && !opens("new"))
        #expect(try count() == 1, "others read as before")
        try await pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        try await block.end()
        try await pool.rekey(.sample("new"))
        #expect(try count() == 2)
    }

    @Test func rekeyWaitsForRunningBlocks() async throws {
        let block = try await HeldBlock { [pool] hold in try? pool.read { _ in hold() } }
        async let change: Void = pool.rekey(.sample("new"), within: .seconds(60 * Extent.minutesOfAHang))
        // A request that comes too early gets a reader, and waits for nothing.
        var early: [Task<Void, any Error>] = []
        while pool.readerCounts.waiting == 0 {
            early.append(Task { [pool] in try await pool.read { _ in } })
            try await Task.sleep(for: .milliseconds(5))
        }
        let done = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { [pool] in
                    _ = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
                    done.add()
                }
                group.addTask { [pool] in
                    try await pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
                    done.add()
                }
            }
            // Longer than a reader is waited for otherwise: the barrier does not count.
            try await Task.sleep(for: Self.limit + .milliseconds(500))
            #expect(pool.readerCounts.waiting > 0)
            block.letGo()
            try await group.waitForAll()
        }
        try await change
        for task in early { try await task.value }
        #expect(done.value == 40, "no request is lost")
        #expect(try count() == 21)
        #expect(opens("new") && !opens("old"))
    }

    @Test func foreignConnectionStopsRekey() throws {
        let other = Database(path: directory.file("test.db"))
        try other.open(key: .sample("old"))
        #expect(try other.int(forQuery: "SELECT count(*) FROM t") == 1)
        try pool.inDatabase { $0.busyTimeout = .milliseconds(20) }
        #expect { try pool.rekey(.sample("new")) } throws: { ($0 as? DatabaseError)?.code.primary == .busy }
        #expect(try count() == 1)
        other.close()
        try pool.rekey(.sample("new"))
        #expect(try count() == 1)
    }

    @Test func poolRefusesSameKey() throws {
        #expect(try count() == 1)
        #expect { try pool.rekey(.sample("old")) } throws: {
            ($0 as? RekeyError)?.code == .sameKey
        }
        #expect(try count() == 1)
        try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        #expect(try count() == 2)
    }

    @Test func readInPrepareDatabaseDoesNotHangRekey() throws {
        let reach = PoolReach()
        let pool = try DatabasePool(
            path: directory.file("other.db"),
            key: .sample("old"),
            configuration: Configuration { $0.prepareDatabase = { _ in try reach.read() } }
        )
        reach.pool.withLock { $0 = pool }
        defer { reach.pool.withLock { $0 = nil } }
        #expect { try pool.rekey(.sample("new")) } throws: { ($0 as? DatabaseError)?.code == .misuse }
    }
}

/// A pool that its own connections' preparation reads.
private final class PoolReach: Sendable {
    let pool = Lock<DatabasePool?>(nil)

    func read() throws {
        guard let pool = pool.withLock({ $0 }) else { return }
        _ = try pool.read { try $0.int(forQuery: "SELECT 1") }
    }
}
