import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite(.atTheEnds) struct ContinuousBackupTests {
    let fixture: RepositoryFixture
    private let events = Events()
    static let sum = BackupFollowerTests.sum

    init() throws {
        fixture = try RepositoryFixture()
    }

    /// What an observer was told.
    private final class Events: Sendable {
        private let all = Lock<[BackupEvent]>([])

        func add(_ event: BackupEvent) { all.withLock { $0.append(event) } }

        var stored: [Generation] {
            all.withLock { $0.compactMap { if case .stored(let generation) = $0 { generation } else { nil } } }
        }

        var failures: [String] {
            all.withLock { $0.compactMap { if case .failed(let error) = $0 { "\(error)" } else { nil } } }
        }

        var warnings: [BackupWarning] {
            all.withLock { $0.compactMap { if case .warned(let warning) = $0 { warning } else { nil } } }
        }

        var hasUnchanged: Bool { all.withLock { $0.contains { if case .unchanged = $0 { true } else { false } } } }

        var hasPostponed: Bool { all.withLock { $0.contains { if case .postponed = $0 { true } else { false } } } }
    }

    private func backup(of database: any DatabaseWriter, every interval: Duration = .milliseconds(10))
        -> ContinuousBackup
    {
        ContinuousBackup(of: database, to: fixture.repository, every: interval) { [events] in events.add($0) }
    }

    private func pool(_ content: SQL = SampleFile.content) throws -> DatabasePool {
        let pool = try DatabasePool(path: fixture.path, key: RepositoryFixture.key.key)
        try pool.inDatabase { try $0.executeStatements(content) }
        return pool
    }

    private func change(_ database: some DatabaseWriter, _ number: Int) async throws {
        try await database.write { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = \(number)") }
    }

    @Test func commitsOfPoolAreStored() async throws {
        let pool = try pool()
        let backup = backup(of: pool)
        #expect(backup.metrics == BackupMetrics())
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation?.number == 1 && events.hasUnchanged }
        #expect(backup.metrics.lag == nil)
        for number in 1...3 {
            let committed = Date()
            try await change(pool, number)
            try await eventually { events.stored.count == number + 1 }
            try await eventually { try #require(backup.metrics.completeUntil) > committed }
            #expect(try fixture.answer(.newest, Self.sum) == "\(number * (number + 1) / 2)")
        }
        running.cancel()
        #expect(try await running.ends())
        try await running.value
        let metrics = backup.metrics
        let generations = try fixture.repository.generations()
        #expect(events.stored == generations && metrics.generation == generations.last)
        #expect(metrics.storedSize == generations.map(\.storedSize).reduce(0, +))
        #expect(try #require(metrics.lag) > .zero)
        #expect(metrics.failures == 0 && metrics.lookedAt != nil)
        #expect(try fixture.repository.check().problems == [])
        try await pool.close()
    }

    @Test func queueInRollbackModeIsBackedUp() async throws {
        let queue = try fixture.open(.delete)
        let backup = backup(of: queue)
        let running = Task { try await backup.run() }
        for number in 1...3 {
            try await change(queue, number)
            try await eventually { hasSum(number * (number + 1) / 2, RepositoryFixture.key.key) }
        }
        running.cancel()
        try await running.value
        #expect(events.failures == [])
    }

    @Test func wholeReadTooSoonIsPostponed() async throws {
        let queue = try fixture.open(.delete)
        try await queue.inDatabase {
            // Longer than a read of the whole file takes.
            $0.busyTimeout = .seconds(600)
            try $0.executeUpdate("INSERT INTO people (note) VALUES (randomblob(20000000))")
        }
        let observed = Lock<ContinuousBackup?>(nil)
        let complete = Lock<[(until: Date?, isPostponed: Bool)]>([])
        let backup = ContinuousBackup(of: queue, to: fixture.repository, every: .milliseconds(10)) { [events] event in
            events.add(event)
            let until = observed.withLock { $0?.metrics.completeUntil }
            let isPostponed = if case .postponed = event { true } else { false }
            complete.withLock { $0.append((until, isPostponed)) }
        }
        observed.withLock { $0 = backup }
        let running = Task { try await backup.run() }
        try await eventually(within: .seconds(120)) { events.stored.count == 1 }
        for number in 1...600 where !events.hasPostponed { try await change(queue, number) }
        let postponed = complete.withLock { $0.count }
        // The pause is four times as long as the read was.
        try await eventually(within: .seconds(120)) {
            complete.withLock { $0.count > postponed && $0.last?.isPostponed == false }
        }
        #expect(events.hasPostponed)
        running.cancel()
        try await running.value
        observed.withLock { $0 = nil }
        let looks = complete.withLock { $0 }
        for (before, look) in zip(looks, looks.dropFirst()) {
            #expect((look.until == before.until) == look.isPostponed)
        }
    }

    @Test func keyringIsStoredAndGenerationsAreKeptByPolicy() async throws {
        let keyring = try await Keyring(besideDatabase: fixture.path).create(
            with: .keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("Ada")))
        )
        let pool = try await DatabasePool(path: fixture.path, key: keyring)
        try await pool.inDatabase { try $0.executeStatements(SampleFile.content) }
        let backup = ContinuousBackup(
            of: pool,
            to: fixture.repository,
            keyring: keyring,
            keeping: RetentionPolicy(newest: 2),
            every: .milliseconds(10)
        ) { [events] in events.add($0) }
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation?.number == 1 }
        for number in 2...4 {
            if number == 3 { try await pool.rotateKey(of: keyring) }
            try await change(pool, number)
            try await eventually { backup.metrics.generation?.number ?? 0 >= number }
        }
        running.cancel()
        try await running.value
        #expect(events.failures == [] && events.warnings == [])
        // The next run keeps to the policy at its first generation, and knows of an old copy by the keyring.
        let newest = try #require(backup.metrics.generation?.number)
        try await change(pool, 5)
        let again = Task { try await backup.run() }
        try await eventually { backup.metrics.generation?.number ?? 0 > newest }
        try await eventually { try fixture.repository.generations().count == 2 }
        again.cancel()
        try await again.value
        try await pool.close()
        #expect(try fixture.repository.notedGeneration(in: keyring) ?? 0 > newest)
        let restored = Keyring(path: fixture.directory.file("restored.keyring"))
        try fixture.repository.restoreKeyring(to: restored)
        let unlocked = try await restored.unlock(.keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("Ada"))))
        let key = try await unlocked.databaseKey()
        #expect(try fixture.answer(.newest, Self.sum, key: key) == "14")
    }

    @Test func nextRunGoesOnWithRepository() async throws {
        let pool = try pool()
        try fixture.backUp()
        let backup = backup(of: pool)
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation?.number == 1 }
        running.cancel()
        try await running.value
        #expect(events.stored == [] && backup.metrics.storedSize == 0)
        let again = Task { try await backup.run() }
        try await change(pool, 1)
        try await eventually { backup.metrics.generation?.number == 2 }
        again.cancel()
        try await again.value
        #expect(try fixture.answer(.newest, Self.sum) == "1")
    }

    // MARK: Cancellation

    @Test func cancelledLookStoresNothing() async throws {
        let pool = try pool()
        // By the last call before the database is read.
        let wrapped = WrappedWriter(pool) { number in
            if number == 3 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let backup = backup(of: wrapped)
        let running = Task { try await backup.run() }
        try #require(try await running.ends())
        try await running.value
        #expect(fixture.objects("generations") == [] && fixture.objects("segments") == [])
        #expect(events.failures == [] && backup.metrics.failures == 0)
        #expect(try fixture.backUp().generation.number == 1)
    }

    @Test func cancelledTaskWaitsForNoLock() async throws {
        let pool = try pool()
        try fixture.backUp()
        let descriptor = open(fixture.path(ofObject: "repository"), O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let backup = backup(of: pool)
        let isWaiting = Gate()
        let wait = LockWait(limit: .seconds(1000)) { isWaiting.open() }
        let running = LockWait.$current.withValue(wait) { Task { try await backup.run() } }
        try await eventually { isWaiting.passed }
        running.cancel()
        #expect(try await running.ends())
        #expect(events.failures == [])
    }

    @Test func idleTaskEndsAtOnce() async throws {
        let pool = try pool()
        let backup = backup(of: pool, every: .seconds(1000))
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation != nil }
        running.cancel()
        #expect(try await running.ends())
    }

    // MARK: Failures

    @Test func failureIsToldAndBackupGoesOn() async throws {
        let pool = try pool()
        let place = fixture.directory.file("repository")
        _ = try fixture.directory.write([1, 2, 3], to: "repository")
        let backup = backup(of: pool)
        let running = Task { try await backup.run() }
        try await eventually { !events.failures.isEmpty }
        #expect(backup.metrics.generation == nil && backup.metrics.completeUntil == nil)
        #expect(events.failures.first == "\(place): missing, or not a repository of backups")
        try FileManager.default.removeItem(atPath: place)
        try await eventually { backup.metrics.generation?.number == 1 }
        #expect(backup.metrics.failuresInSuccession == 0)
        // It is gone, and comes back.
        try FileManager.default.moveItem(atPath: place, toPath: place + ".away")
        _ = try fixture.directory.write([], to: "repository")
        let complete = try #require(backup.metrics.completeUntil)
        try await change(pool, 1)
        try await eventually { backup.metrics.failuresInSuccession > 0 }
        #expect(backup.metrics.generation?.number == 1)
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.moveItem(atPath: place + ".away", toPath: place)
        try await eventually { backup.metrics.generation?.number == 2 }
        #expect(try #require(backup.metrics.lag) > .milliseconds(500))
        #expect(try #require(backup.metrics.completeUntil) > complete)
        #expect(backup.metrics.failures == events.failures.count)
        running.cancel()
        try await running.value
        #expect(try fixture.answer(.newest, Self.sum) == "1")
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func lostSegmentIsToldAndStoredAgain() async throws {
        let pool = try pool()
        try fixture.file.backUp(to: fixture.repository, key: RepositoryFixture.key.key)
        let lost = "segments/" + fixture.objects("segments")[0]
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: lost))
        let backup = backup(of: pool)
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation?.number == 2 && !events.stored.isEmpty }
        running.cancel()
        try await running.value
        #expect(events.warnings == [.lost(generation: 1, objects: [lost])])
        #expect(try fixture.answer() == SampleFile.answer)
    }

    @Test func pausesGrowWithFailures() {
        var metrics = BackupMetrics()
        #expect(metrics.pause(.milliseconds(10)) == .milliseconds(10))
        for seconds in [1, 2, 4, 8, 16, 32, 32] {
            metrics.addFailure()
            #expect(metrics.pause(.milliseconds(10)) == .seconds(seconds))
            #expect(metrics.pause(.seconds(60)) == .seconds(60))
        }
    }

    @Test func damagedPageIsToldAndNotStored() async throws {
        try await fixture.open(.delete).close()
        try flipByte(of: fixture.path, at: 2 * RepositoryFixture.pageSize + 7)
        let queue = try await DatabaseQueue(path: fixture.path, key: RepositoryFixture.key.key)
        let backup = backup(of: queue)
        let running = Task { try await backup.run() }
        try await eventually { !events.failures.isEmpty }
        running.cancel()
        try await running.value
        #expect(events.failures[0].contains("damaged: page 3"))
        #expect(fixture.objects("generations") == [])
    }

    // MARK: Changes of key

    @Test func rotationsAreFollowed() async throws {
        let keyring = Keyring(besideDatabase: fixture.path)
        let secret = try KeyringSecret.keyFile(.random(count: 32))
        try await keyring.create(with: secret)
        let unlocked = try await keyring.unlock(secret)
        let pool = try await DatabasePool(path: fixture.path, key: unlocked)
        try await pool.inDatabase { try $0.executeStatements(SampleFile.content) }
        let backup = backup(of: pool)
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation != nil }
        for number in 1...5 {
            try await pool.rotateKey(of: unlocked)
            try await change(pool, number)
            // Until then the newest generation is under another key, or has another sum.
            let key = try await unlocked.databaseKey()
            try await eventually { hasSum(number * (number + 1) / 2, key) }
        }
        running.cancel()
        try await running.value
        #expect(events.failures == [])
        #expect(try fixture.repository.generations().allSatisfy(\.isAuthenticated))
        let key = try await unlocked.databaseKey()
        #expect(try fixture.answer(.newest, Self.sum, key: key) == "15")
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func keyThatChangesDuringLookIsNoFailure() async throws {
        let pool = try pool()
        let other = SampleKey.named("other").key
        // Between the question for the key and the opening with it.
        let wrapped = WrappedWriter(pool) { number in
            if number == 3 { try pool.rekey(other) }
        }
        let backup = backup(of: wrapped)
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation != nil }
        running.cancel()
        try await running.value
        #expect(events.failures == [])
        #expect(try fixture.answer(key: other) == SampleFile.answer)
    }

    // MARK: What it refuses

    @Test func databaseWithoutFileIsRefused() async throws {
        for path in [nil, ":memory:"] {
            let pool = try await DatabasePool(path: path)
            await expectRefusal("a database in memory has no file") { try await backup(of: pool).run() }
        }
    }

    @Test func plaintextFileIsRefused() async throws {
        let queue = try await DatabaseQueue(
            path: fixture.path,
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try await queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        await expect(throws: KeyError.notEncrypted) { try await backup(of: queue).run() }
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.file("repository")))
    }

    @Test func closingPoolEndsBackup() async throws {
        let pool = try pool()
        let backup = backup(of: pool)
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation != nil }
        try await pool.close()
        #expect(try await running.ends())
        await expectRefusal("the database was closed") { try await running.value }
        await expectRefusal("the database was closed") { try await backup.run() }
        #expect(events.failures == [])
    }

    @Test func secondRunAndShortIntervalAreRefused() async throws {
        let pool = try pool()
        await expectRefusal("every 10 ms at most") { try await self.backup(of: pool, every: .zero).run() }
        let backup = backup(of: pool)
        let running = Task { try await backup.run() }
        try await eventually { backup.metrics.generation != nil }
        let second = Task { try await backup.run() }
        #expect(try await second.ends())
        second.cancel()
        await expectRefusal("the backup runs already") { try await second.value }
        running.cancel()
        try await running.value
    }

    /// Whether the newest generation is under `key` and has this sum.
    private func hasSum(_ sum: Int, _ key: DatabaseKey) -> Bool {
        (try? fixture.answer(.newest, Self.sum, key: key)) == "\(sum)"
    }

    private func expectRefusal(_ message: String, _ body: () async throws -> Void) async {
        await #expect {
            try await body()
        } throws: { error in
            (error as? DatabaseError)?.message.contains(message) == true
        }
    }
}
