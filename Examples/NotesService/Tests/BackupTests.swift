import CipherDB
import Foundation
import InMemoryLogging
import Logging
import Rekeying
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@testable import NotesService

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct BackupTests {
    private let scratch: Scratch
    private let key: DatabaseKey
    private let log = InMemoryLogHandler()
    private var place: String { scratch.directory + "/backups" }

    init() throws {
        scratch = try Scratch()
        key = try .random()
    }

    private var logger: Logger {
        let log = log
        var logger = Logger(label: "test", factory: { _ in log })
        logger.logLevel = .debug
        return logger
    }

    private func store() async throws -> NoteStore {
        try await NoteStore(path: scratch.path, key: key, logger: Logger(label: "test"))
    }

    /// The notes of the newest generation.
    private func backedUp() async throws -> Int {
        let path = scratch.directory + "/restored.db"
        try DatabaseFile(path: path).restore(from: BackupRepository(place), key: key)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let queue = try await DatabaseQueue(path: path, key: key)
        let count = try await queue.read { try $0.int(forQuery: "SELECT count(*) FROM notes") ?? 0 }
        try await queue.close()
        return count
    }

    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<4000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
        try #require(condition())
    }

    @Test func shutdownStoresLastCommits() async throws {
        let store = try await store()
        // It does not look again by itself.
        let backup = ContinuousBackup(of: store.pool, to: BackupRepository(place), every: .seconds(1000))
        let group = ServiceGroup(services: [store.pool, backup], logger: logger)
        let running = Task { try await group.run() }
        try await wait { backup.metrics.generation?.number == 1 }
        _ = try await store.add(NoteStore.Note(author: "Ada", text: "the last note"))
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(backup.metrics.generation?.number == 2)
        #expect(try await backedUp() == 1)
    }

    @Test func cancelledServiceEndsAtOnce() async throws {
        let store = try await store()
        let backup = ContinuousBackup(of: store.pool, to: BackupRepository(place), every: .seconds(1000))
        let running = Task { try await backup.run() }
        try await wait { backup.metrics.generation?.number == 1 }
        _ = try await store.add(NoteStore.Note(author: "Ada", text: "not yet"))
        running.cancel()
        try await running.value
        #expect(backup.metrics.generation?.number == 1)
        try await store.pool.close()
    }

    @Test func healthTellsOfBackup() async throws {
        #expect(try await health(of: store(), backup: nil).backup == nil)
        let store = try await store()
        let report = try #require(try await health(of: store, backup: store.backup(to: place, logger)).backup)
        #expect(report.generation == 1 && report.storedBytes > 4096)
        #expect(report.failures == 0 && report.completeUntil != nil)
        #expect(log.entries.contains { "\($0.message)" == "backed up" && $0.metadata["generation"] == "1" })
    }

    @Test func failureIsLoggedAndTold() async throws {
        try Data([1]).write(to: URL(fileURLWithPath: place))
        let store = try await store()
        let report = try #require(try await health(of: store, backup: store.backup(to: place, logger)).backup)
        #expect(report.generation == nil && report.failuresInSuccession > 0 && report.completeUntil == nil)
        let failure = try #require(log.entries.first { $0.level == .error })
        #expect(failure.metadata["error"] == "\(place): missing, or not a repository of backups")
    }

    /// What the service answers after the first look.
    private func health(of store: NoteStore, backup: ContinuousBackup?) async throws -> Health.Report {
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let service = NotesService(store: store, backup: backup, logger: Logger(label: "test"))
        let group = ServiceGroup(
            services: [service.application(port: 0) { running.yield($0) }],
            logger: Logger(label: "test")
        )
        let serving = Task { try await group.run() }
        let port = try #require(await ports.first { _ in true })
        try await wait { backup.map { $0.metrics.lookedAt != nil } ?? true }
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/health"))
        let (data, _) = try await URLSession.shared.data(from: url)
        await group.triggerGracefulShutdown()
        try await serving.value
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Health.Report.self, from: data)
    }
}
