public import CipherBackup
public import CipherDB
internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
#if ServiceLifecycle
    public import ServiceLifecycle
#endif

/// Stores each change of a service's database in a repository, for as long as ``run()`` runs.
///
/// ```swift
/// let backup = ContinuousBackup(
///     of: pool,
///     to: BackupRepository("notes.backups"),
///     keyring: unlocked,
///     keeping: RetentionPolicy(newest: 100, days: 30)
/// ) { event in
///     if case .failed(let error) = event { print("backup: \(error)") }
/// }
/// let running = Task { try await backup.run() }
/// ```
///
/// The pages are stored as they are in the file, encrypted. They are proved with the key that the queue or pool has, and each generation has a MAC
/// under it. Changes that other processes make are stored too.
public final class ContinuousBackup: Sendable {
    private struct State {
        var metrics = BackupMetrics()
        var isRunning = false
    }

    private let writer: any DatabaseWriter
    private let repository: BackupRepository
    private let keyring: UnlockedKeyring?
    private let policy: RetentionPolicy?
    private let interval: Duration
    private let observer: @Sendable (BackupEvent) -> Void
    private let state = Lock(State())
    private let owner = OwnerProcess()
    private static let shortestInterval = Duration.milliseconds(10)

    /// A backup that does not run yet.
    ///
    /// - Parameters:
    ///   - database: The queue or pool, of an encrypted file.
    ///   - repository: Where to; it is made unless it exists, or the keyring notes another one.
    ///   - keyring: That of the database. It is stored with the generations, so that one of its secrets opens what is restored, and notes the
    ///     newest one, so that an old copy of the repository is known.
    ///   - policy: Which generations are kept, the others are removed, at most once a minute; nil keeps all.
    ///   - interval: How often to look for changes: 10 ms at least.
    ///   - observer: Called after each look; the next one waits for it.
    public init(
        of database: any DatabaseWriter,
        to repository: BackupRepository,
        keyring: UnlockedKeyring? = nil,
        keeping policy: RetentionPolicy? = nil,
        every interval: Duration = .seconds(1),
        observer: @escaping @Sendable (BackupEvent) -> Void = { _ in }
    ) {
        writer = database
        self.repository = repository
        self.keyring = keyring
        self.policy = policy
        self.interval = interval
        self.observer = observer
    }

    /// What was done so far, in all runs together.
    public var metrics: BackupMetrics { state.withLock { $0.metrics } }

    /// Looks for changes and stores them until the task is cancelled, and then returns. What fails is tried again. No lock is held and no file is
    /// open between two looks, and no thread waits.
    ///
    /// A cancelled task ends within about a mebibyte of the database, or when the object that is on its way is stored; what it was storing
    /// becomes no generation. With the package trait `ServiceLifecycle`, a graceful shutdown ends it after one more look, which stores the last
    /// commits.
    ///
    /// - Throws: `DatabaseError` for a database in memory, for an interval that is too short, where it runs already, and when the queue or
    ///   pool is closed; `KeyError` for a plaintext file; `UsedAfterFork` in a child of the process that made it.
    public func run() async throws {
        try owner.check(.database)
        let follower = try await start()
        defer { state.withLock { $0.isRunning = false } }
        #if ServiceLifecycle
            try await cancelWhenGracefulShutdown { try await self.follow(follower) }
            // The first generation may take long, and is left to the next start.
            if !Task.isCancelled, metrics.generation != nil { try await look(follower, isLast: true) }
        #else
            try await follow(follower)
        #endif
    }

    private func start() async throws -> SharedFollower {
        guard interval >= ContinuousBackup.shortestInterval else {
            throw DatabaseError(code: .range, message: "a backup looks for changes every 10 ms at most")
        }
        let follower = try await SerialWorker.once { [writer, repository, keyring, policy] in
            try SharedFollower(writer, repository, keyring: keyring, keeping: policy)
        }
        try state.withLock { state in
            guard !state.isRunning else { throw DatabaseError(code: .misuse, message: "the backup runs already") }
            state.isRunning = true
        }
        return follower
    }

    private func follow(_ follower: SharedFollower) async throws {
        while !Task.isCancelled {
            try await look(follower)
            try? await Task.sleep(for: metrics.pause(interval))
        }
    }

    /// Notes the newest generation and removes others. What fails is done by a later look.
    private func keep(_ follower: BackupFollower, isLast: Bool) -> [BackupEvent] {
        do {
            return try follower.keep(isLast: isLast)?.noteFailure.map { [.failed($0)] } ?? []
        } catch {
            state.withLock { $0.metrics.addFailure() }
            return [.failed(error)]
        }
    }

    /// - Throws: when the queue or pool was closed.
    private func look(_ follower: SharedFollower, isLast: Bool = false) async throws {
        let began = Date()
        let events: [BackupEvent]
        do {
            events = try await follower.use { [self] follower in
                let result = try follower.store(isLast: isLast) { _ in try Task.checkCancellation() }
                state.withLock { $0.metrics.add(result, of: follower, began: began) }
                let found: [BackupEvent] =
                    if let result, result.isNew {
                        result.warnings.map { .warned($0) } + [.stored(result.generation)]
                    } else {
                        (follower.warning.map { [.warned($0)] } ?? []) + [follower.isCurrent ? .unchanged : .postponed]
                    }
                return found + keep(follower, isLast: isLast)
            }
        } catch  where Task.isCancelled {
            return
        } catch let error as SharedFollower.Closed {
            throw error.cause
        } catch {
            state.withLock { $0.metrics.addFailure() }
            events = [.failed(error)]
        }
        events.forEach(observer)
    }
}

#if ServiceLifecycle
    extension ContinuousBackup: Service {}
#endif

/// What one look of a ``ContinuousBackup`` found.
public enum BackupEvent: Sendable {
    /// The database has changed, and this generation has the changes.
    case stored(Generation)
    /// Something was noticed in the repository, in the same look as what follows.
    case warned(BackupWarning)
    /// The newest generation has the whole database.
    case unchanged
    /// The database has changed so that it has to be read whole, and was read whole a short time ago: a later look stores it.
    case postponed
    /// The look failed. The next one comes after a pause, which grows with each failure up to 32 seconds.
    case failed(any Error)
}

/// What a backup that goes on has done since it began.
public struct BackupMetrics: Sendable, Equatable {
    /// The newest generation; nil until the first look that succeeds.
    public private(set) var generation: Generation?
    /// For how long at most a commit of the newest generation waited; while looks fail or come too early, for how long at most one waits that is
    /// not stored yet. Nil until a commit was stored or may wait.
    public var lag: Duration? { waiting ?? stored }
    private var stored: Duration?
    private var waiting: Duration?
    /// Bytes that were stored, in all generations together.
    public private(set) var storedSize: Int64 = 0
    /// The newest generation has each commit before this time; nil until the first look that succeeds. How long ago it is tells how much would be
    /// lost with the database.
    public private(set) var completeUntil: Date?
    /// When the last look ended, also one that failed.
    public private(set) var lookedAt: Date?
    /// Looks that failed.
    public private(set) var failures = 0
    /// Looks that failed since the last one that succeeded.
    public private(set) var failuresInSuccession = 0

    package init() {}

    /// Notes a look that succeeded.
    ///
    /// - Parameters:
    ///   - result: What it stored.
    ///   - began: When it began.
    package mutating func add(_ result: BackupResult?, of follower: BackupFollower, began: Date) {
        if let result {
            generation = result.generation
            stored = follower.lag
            if result.isNew { storedSize += result.generation.storedSize }
        }
        if follower.isCurrent { completeUntil = began }
        waiting = follower.isCurrent ? nil : sinceComplete
        failuresInSuccession = 0
        lookedAt = Date()
    }

    /// Notes a look that failed.
    package mutating func addFailure() {
        failures += 1
        failuresInSuccession += 1
        waiting = sinceComplete
        lookedAt = Date()
    }

    private var sinceComplete: Duration? { completeUntil.map { .seconds(max(0, Date().timeIntervalSince($0))) } }

    /// How long to wait before the next look: what fails again and again is tried less often, down to once in 32 s.
    package func pause(_ interval: Duration) -> Duration {
        guard failuresInSuccession > 0 else { return interval }
        return max(interval, .seconds(1 << min(failuresInSuccession - 1, 5)))
    }
}
