public import CipherKeys
internal import CipherSystem

extension BackupRepository {
    /// Writes the keyring that was stored with a generation to a file that must not exist. A passphrase, a recovery code or another secret
    /// of it then unlocks it: nothing else is needed on a new machine.
    ///
    /// - Parameters:
    ///   - keyring: Where to.
    ///   - choice: Which generation: of several keyrings, the newest that has its key, or the newest where it was stored without one.
    /// - Throws: ``BackupError``, with `BackupError.noKeyring` where no keyring that is stored has the key;
    ///   `KeyringError`.
    public func restoreKeyring(to keyring: Keyring, for choice: GenerationChoice = .newest) throws {
        try storage.locked(exclusively: false) {
            let manifest = try manifest(choice, atLeast: nil).manifest
            let isAny = manifest.keyIdentifier == nil
            guard let stored = try storedKeyrings(marker()).last(where: { isAny || $0.has(keyOf: manifest) }) else {
                throw BackupError(.noKeyring, path: storage.description, generation: manifest.number)
            }
            try keyring.create(copyOf: stored.keyring)
        }
    }

    /// The keyrings that are whole, the oldest first. `damaged` is called with the error of each other one.
    func storedKeyrings(_ marker: RepositoryMarker, damaged: (any Error) -> Void = { _ in }) throws -> [StoredKeyring] {
        try storage.names(in: StoredKeyring.directory)
            .filter { StoredManifest.number(inName: $0) != nil }
            .compactMap { name in
                do {
                    return try StoredKeyring(name, storage, marker)
                } catch let error as BackupError where error.isOfContent {
                    damaged(error)
                    return nil
                }
            }
            .sorted { ($0.number, $0.name) < ($1.number, $1.name) }
    }
}

extension StoredKeyring {
    func has(keyOf manifest: Manifest) -> Bool {
        manifest.keyIdentifier.map(identifiers.contains) ?? false
    }
}

/// Keeps the present state of a keyring in a repository. For one thread at a time.
final class KeyringKeeper {
    private let keyring: UnlockedKeyring
    /// The file that was stored last, or found to be.
    private var last: [UInt8]?
    /// When the repository was looked at: somebody may remove or replace what is there.
    private var lookedAt = ContinuousClock.now
    private static let pauseBetweenLooks = Duration.seconds(60)

    init(_ keyring: UnlockedKeyring) {
        self.keyring = keyring
    }

    /// Whether the keyring has other slots or keys than what was stored last, or it is time to look whether that is there.
    func isDue() throws -> Bool {
        try .now >= lookedAt + KeyringKeeper.pauseBetweenLooks || !keyring.isCurrent(in: last)
    }

    /// Stores the keyring, if its slots or keys are others than those of the newest one that is stored, and removes those that have no key
    /// which it lacks; others of it get its slots. The caller has the lock.
    func run(_ repository: BackupRepository, _ marker: RepositoryMarker) throws {
        guard try isDue() else { return }
        let present = try repository.storedKeyrings(marker)
        let (file, keys) = try keyring.copy()
        let identifiers = try Set(
            ExpectedGeneration.keys(keys).map { try BackupKey($0, repository: marker.identifier).identifier }
        )
        // An old copy of the keyring, with secrets that were removed since, takes the place of none that has its keys.
        let isStored = try present.last.map {
            try $0.identifiers.isSuperset(of: identifiers) && keyring.proves($0.keyring)
                && (keyring.isCurrent(in: $0.keyring) || keyring.isOlder(than: $0.keyring))
        }
        if isStored != true { try store(file, identifiers, present, repository, marker) }
        last = file
        lookedAt = .now
    }

    private func store(
        _ file: [UInt8],
        _ identifiers: Set<[UInt8]>,
        _ present: [StoredKeyring],
        _ repository: BackupRepository,
        _ marker: RepositoryMarker
    ) throws {
        // A number that says so must not end the process, nor hide what is stored now.
        if let newest = present.last, newest.number == Manifest.highestNumber {
            throw BackupError(.damagedObject, path: StoredKeyring.directory + "/" + newest.name)
        }
        func add(_ file: [UInt8], _ identifiers: Set<[UInt8]>, number: UInt64) throws {
            let stored = try StoredKeyring(file, identifiers, number: number, repository: marker.identifier)
            try repository.storage.add(StoredKeyring.directory + "/" + stored.name, stored.file)
        }
        try add(file, identifiers, number: (present.last?.number ?? 0) + 1)
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
