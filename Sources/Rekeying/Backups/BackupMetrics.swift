public import CipherBackup
internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
