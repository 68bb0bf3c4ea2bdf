public import CipherKeys
internal import CipherSystem

extension BackupRepository {
    /// Writes the keyring that was stored with a generation to a file that must not exist. A passphrase, a recovery code or another secret
    /// of it then unlocks it: nothing else is needed on a new machine.
    ///
    /// - Parameters:
    ///   - keyring: Where to.
    ///   - choice: Which generation: of several keyrings, the newest that has its key, or the newest where it was stored without one.
    ///   - secret: Passes over those that it does not unlock, such as one that somebody else put there; nil proves nothing.
    /// - Throws: ``BackupError``, with `BackupError.noKeyring` where no keyring that is stored has the key;
    ///   `KeyringError`.
    public func restoreKeyring(
        to keyring: Keyring,
        for choice: GenerationChoice = .newest,
        unlockedBy secret: KeyringSecret? = nil
    ) throws {
        guard let secret else { return try keyring.create(copyOf: newestKeyring(for: choice)) }
        try unlockKeyring(for: choice) { try $0.unlock(secret, upgrades: false) }.backUp(to: keyring.path)
    }

    /// The newest keyring that says that it has the key of a generation, or the newest at all. It is a copy in memory.
    package func newestKeyring(for choice: GenerationChoice?) throws -> Keyring {
        try firstKeyring(for: choice) { stored, _ in stored.copy }
    }

    /// What is damaged of the newest generation, so that its key is not known; nil where that is.
    package func damageOfNewestManifest() throws -> BackupError? {
        do {
            _ = try storage.locked(exclusively: false) { try manifest(.newest, atLeast: nil) }
            return nil
        } catch let error as BackupError where error.code == .damagedObject {
            return error
        }
    }

    /// Unlocks the newest keyring that can be unlocked and has the key of a generation, if one is named.
    ///
    /// - Parameter unlock: Called with a copy in memory of each keyring that says that it has the key, until one has it.
    /// - Throws: also what `unlock` throws for the newest; `KeyringError.wrongSecret` if it does for any.
    package func unlockKeyring(
        for choice: GenerationChoice?,
        _ unlock: (Keyring) throws -> UnlockedKeyring
    ) throws -> UnlockedKeyring {
        var failure: (any Error)?
        func isWrong(_ error: (any Error)?) -> Bool { (error as? KeyringError)?.code == .wrongSecret }
        do {
            return try firstKeyring(for: choice) { stored, manifest in
                do {
                    let unlocked = try unlock(stored.copy)
                    guard let manifest else { return unlocked }
                    let identifiers = try StoredKeyring.identifiers(unlocked.copy().keys, manifest.repository)
                    return manifest.isOfKey(in: identifiers) ? unlocked : nil
                } catch {
                    try ChildInterruption.check()
                    if failure == nil || isWrong(error) && !isWrong(failure) { failure = error }
                    return nil
                }
            }
        } catch let error as BackupError {
            throw failure ?? error
        }
    }

    private func firstKeyring<Found>(
        for choice: GenerationChoice?,
        _ take: (StoredKeyring, Manifest?) throws -> Found?
    ) throws -> Found {
        try storage.locked(exclusively: false) {
            let manifest = try choice.map { try self.manifest($0, atLeast: nil).manifest }
            for stored in try storedKeyrings(identifier()) where manifest?.isOfKey(in: stored.identifiers) ?? true {
                if let found = try take(stored, manifest) { return found }
            }
            try ChildInterruption.check()
            throw BackupError(.noKeyring, path: storage.description, generation: manifest?.number)
        }
    }

    /// The names of the keyrings, the newest first.
    private func keyringNames() throws -> [String] {
        try storage.names(in: StoredKeyring.directory)
            .compactMap { name in StoredManifest.number(inName: name).map { ($0, name) } }
            .sorted { $0 > $1 }.map(\.1)
    }

    /// The keyrings that can be read, the newest first. Each is read when its turn comes: somebody else may have put many there.
    ///
    /// - Parameter unreadable: Called with the error of each other one.
    func storedKeyrings(
        _ identifier: [UInt8],
        unreadable: @escaping (any Error) -> Void = { _ in }
    ) throws -> AnyIterator<StoredKeyring> {
        var names = try keyringNames().makeIterator()
        return AnyIterator {
            while let name = names.next() {
                do {
                    return try StoredKeyring(name, storage, identifier)
                } catch {
                    unreadable(error)
                }
            }
            return nil
        }
    }

    /// One more than that of any keyring. After the highest, which nobody gets to by storing, no number comes.
    fileprivate func nextKeyringNumber() throws -> UInt64 {
        let numbers = try keyringNames().compactMap(StoredManifest.number(inName:))
        return (numbers.first { $0 < Manifest.highestNumber } ?? 0) + 1
    }
}

extension Manifest {
    /// Whether the key of the generation is one of these; true where it was stored without one.
    fileprivate func isOfKey(in identifiers: Set<[UInt8]>) -> Bool { keyIdentifier.map(identifiers.contains) ?? true }
}

extension StoredKeyring {
    /// Of keys, as manifests have them.
    fileprivate static func identifiers(_ keys: [DatabaseKey], _ repository: [UInt8]) throws -> Set<[UInt8]> {
        try Set(ExpectedGeneration.keys(keys).map { try BackupKey($0, repository: repository).identifier })
    }

    /// Whether the identifiers are those of its keys: nothing else proves them.
    ///
    /// - Parameter keyring: One that proves it.
    func hasItsIdentifiers(_ keyring: UnlockedKeyring, _ repository: [UInt8]) throws -> Bool {
        try StoredKeyring.identifiers(keyring.keys(of: self.keyring), repository) == identifiers
    }
}

/// Keeps the present state of a keyring in a repository. For one thread at a time.
final class KeyringKeeper {
    private let keyring: UnlockedKeyring
    /// The file that was stored last, or found to be.
    private var last: [UInt8]?
    /// The identifiers of its keys.
    private var stored: Set<[UInt8]> = []
    /// When the repository was looked at: somebody may remove or replace what is there.
    private var lookedAt = ContinuousClock.now
    private static let pauseBetweenLooks = Duration.seconds(60)

    init(_ keyring: UnlockedKeyring) {
        self.keyring = keyring
    }

    /// Whether the keyring that the repository has opens a generation of this key.
    func hasStored(_ key: BackupKey?) -> Bool { key.map { stored.contains($0.identifier) } ?? false }

    /// How many repositories the keyring notes.
    var notedRepositories: Int {
        get throws { try keyring.notedRepositories() }
    }

    /// The newest generation of a repository that the keyring notes.
    func notedGeneration(of identifier: [UInt8]) throws -> UInt64? {
        try keyring.notedGeneration(of: identifier)
    }

    /// The keys that the keyring had when the repository got it, where no backup was noted since its present key was made: those of the newest
    /// generation may have been forgotten. Later they prove nothing: who has one could hide that the repository was replaced by an old copy.
    func forgottenKeys(_ repository: BackupRepository, _ identifier: [UInt8]) throws -> [BackupKey] {
        guard try keyring.isNoteBeforeKey(),
            let stored = try repository.storedKeyrings(identifier).first(where: { keyring.proves($0.keyring) })
        else { return [] }
        return try ExpectedGeneration.keys(keyring.keys(of: stored.keyring)).map {
            try BackupKey($0, repository: identifier)
        }
    }

    /// Whether the keyring has other slots or keys than what was stored last, or it is time to look whether that is there.
    func isDue() throws -> Bool {
        try .now >= lookedAt + KeyringKeeper.pauseBetweenLooks || !keyring.isCurrent(in: last)
    }

    /// Stores the keyring, if its slots or keys are others than those of the newest one that is stored, and removes those that have no key
    /// which it lacks; others of it get its slots. The caller has the lock.
    ///
    /// - Returns: Whether the one that is stored is newer.
    @discardableResult
    func run(_ repository: BackupRepository, _ identifier: [UInt8]) throws -> Bool {
        guard try isDue() else { return false }
        let (file, keys) = try keyring.copy()
        let identifiers = try StoredKeyring.identifiers(keys, identifier)
        // An old copy of the keyring, with secrets that were removed since, takes the place of none that has its keys.
        let stored = try repository.storedKeyrings(identifier).next().flatMap { keyring.proves($0.keyring) ? $0 : nil }
        let isOlder = try stored.map { try keyring.isOlder(than: $0.keyring) } ?? false
        let isStored = try stored.map {
            try $0.identifiers.isSuperset(of: identifiers) && (isOlder || keyring.isCurrent(in: $0.keyring))
        }
        if isStored != true { try store(file, identifiers, repository, identifier) }
        (last, self.stored) = (file, identifiers)
        lookedAt = .now
        return isOlder
    }

    private func store(
        _ file: [UInt8],
        _ identifiers: Set<[UInt8]>,
        _ repository: BackupRepository,
        _ identifier: [UInt8]
    ) throws {
        func add(_ file: [UInt8], _ identifiers: Set<[UInt8]>, number: UInt64) throws {
            let stored = try StoredKeyring(file, identifiers, number: number, repository: identifier)
            try repository.storage.add(StoredKeyring.directory + "/" + stored.name, stored.file)
        }
        let present = try repository.storedKeyrings(identifier)
        try add(file, identifiers, number: repository.nextKeyringNumber())
        for old in present {
            if !old.identifiers.isSubset(of: identifiers) {
                // It has keys that were forgotten since, and a secret that was removed since must not open them.
                guard let changed = try keyring.givingSlots(to: old.keyring) else { continue }
                try add(changed, old.identifiers, number: old.number)
            }
            try repository.storage.remove(StoredKeyring.directory + "/" + old.name)
        }
    }
}
