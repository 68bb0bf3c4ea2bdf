public import CipherBackup
public import CipherKeys
internal import CipherSystem

/// What is done when generations were stored, so that it is bounded: the newest is noted in a keyring, and generations are removed that a policy
/// does not keep. Both are done at most once a minute, for at most a fifth of the time. After a warning that forbids it nothing is removed: of
/// another database for good, of lost objects until the next generation. For one thread at a time.
package final class BackupUpkeep {
    private let repository: BackupRepository
    private let keyring: UnlockedKeyring?
    private let policy: RetentionPolicy?
    /// Whether an old copy of the repository was accepted, whose generation the keyring has not noted yet.
    private var lowersNote: Bool
    private let interval: Duration
    /// The newest generation, until it was noted.
    private var pending: Generation?
    private var mayRunAfter = ContinuousClock.now
    private var mayPrune = true
    /// Whether another database was met, for good.
    private var hasMetOther = false
    /// That of the newest generation.
    private var key: DerivedKey?
    private static let rest = 4.0

    /// What was done.
    package struct Result {
        /// Nil without a policy, or where nothing may be removed.
        package let pruned: PruneResult?
        /// Why the keyring could not be written, which is no failure of the backup.
        package let noteFailure: (any Error)?
    }

    /// - Parameter lowersNote: Whether an old copy of the repository is accepted, once.
    package init(
        _ repository: BackupRepository,
        keyring: UnlockedKeyring?,
        keeping policy: RetentionPolicy?,
        lowersNote: Bool = false,
        interval: Duration = .seconds(60)
    ) {
        self.repository = repository
        self.keyring = keyring
        self.policy = policy
        self.lowersNote = lowersNote
        self.interval = interval
    }

    /// A generation was stored.
    package func add(_ result: BackupResult) {
        pending = result.generation
        key = result.key
        hasMetOther = hasMetOther || result.warnings.contains { if case .sharesNothing = $0 { true } else { false } }
        // What was lost was stored again: the next generation has all of it.
        mayPrune = !hasMetOther && !result.warnings.contains(where: \.forbidsPrune)
    }

    /// Does what is due; nil where nothing is, or where it is too early.
    ///
    /// - Parameter isLast: Whether it must not wait.
    package func run(isLast: Bool = false) throws -> Result? {
        guard let generation = pending, isLast || .now >= mayRunAfter else { return nil }
        let began = ContinuousClock.now
        defer { mayRunAfter = .now + max(interval, (.now - began) * BackupUpkeep.rest) }
        var noteFailure: (any Error)?
        do {
            try keyring.map { try $0.note(generation.number, of: repository.identifier(), lowering: lowersNote) }
            lowersNote = false
        } catch {
            try ChildInterruption.check()
            noteFailure = error
        }
        let pruned = try mayPrune ? policy.map { try repository.prune(keeping: $0, provedBy: key) } : nil
        if noteFailure == nil { pending = nil }
        return Result(pruned: pruned, noteFailure: noteFailure)
    }
}

extension BackupRepository {
    /// Notes in a keyring that this repository has a generation, unless a later one is noted: `notedGeneration(in:)` then finds a
    /// repository that was replaced by an old copy.
    ///
    /// - Throws: `KeyringError`; `BackupError`.
    public func note(_ generation: Generation, in keyring: UnlockedKeyring) throws {
        try keyring.note(generation.number, of: identifier())
    }

    /// The number of the newest generation of this repository that a keyring has noted, for `atLeast` of a restore or a check; nil where
    /// there is none.
    ///
    /// - Throws: `KeyringError`; `BackupError`.
    public func notedGeneration(in keyring: UnlockedKeyring) throws -> UInt64? {
        try keyring.notedGeneration(of: identifier())
    }
}
