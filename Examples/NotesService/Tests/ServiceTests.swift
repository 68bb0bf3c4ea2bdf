import CipherDB
import Foundation
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite struct ServiceTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private var hasLog: Bool { FileManager.default.fileExists(atPath: scratch.path + "-wal") }

    @Test func shutdownClosesPool() async throws {
        let key = try DatabaseKey.random()
        let pool = try await DatabasePool(path: scratch.path, key: key)
        try await pool.write { try $0.executeUpdate("CREATE TABLE notes (text)") }
        #expect(hasLog)
        try await testGracefulShutdown { shutdown in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await pool.run() }
                _ = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
                shutdown.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(!hasLog)
        await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
        let again = try await DatabaseQueue(path: scratch.path, key: key)
        #expect(try await again.read { try $0.int(forQuery: "SELECT count(*) FROM notes") } == 0)
    }

    @Test func cancelledServiceClosesItsQueue() async throws {
        let queue = try await DatabaseQueue(path: scratch.path, key: .random())
        let running = Task { await queue.run() }
        running.cancel()
        await running.value
        await #expect(throws: DatabaseError.self) { try await queue.read { _ in } }
    }

    @Test func cancelledServiceInterruptsStatement() async throws {
        let queue = try await DatabaseQueue(path: scratch.path, key: .random())
        let endless = Task {
            try await queue.inDatabase { database in
                try database.int(
                    forQuery: "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                )
            }
        }
        try await Task.sleep(for: .milliseconds(50))
        let running = Task { await queue.run() }
        running.cancel()
        await running.value
        await #expect(throws: DatabaseError.self) { try await endless.value }
    }

    @Test func requestsAreAnsweredUntilShutdown() async throws {
        let pool = try await DatabasePool(path: scratch.path, key: .random())
        try await pool.write { try $0.executeUpdate("CREATE TABLE notes (text)") }
        let group = ServiceGroup(services: [pool, Writer(pool: pool)], logger: .init(label: "test"))
        let running = Task { try await group.run() }
        while try await pool.read({ try $0.int(forQuery: "SELECT count(*) FROM notes") }) ?? 0 < 20 {
            await Task.yield()
        }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(!hasLog)
    }

    /// Writes until it is shut down; an error would end the group with it.
    private struct Writer: Service {
        let pool: DatabasePool

        func run() async throws {
            try await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    do {
                        try await pool.write { try $0.executeUpdate("INSERT INTO notes VALUES ('milk')") }
                    } catch is CancellationError {
                        return
                    }
                }
            }
        }
    }
}
