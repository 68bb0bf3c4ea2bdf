public import CipherKeys
internal import CipherSystem

extension BackupRepository {
    /// Writes the keyring that was stored with a generation to a file that must not exist. A passphrase, a recovery code or another secret
    /// of it then unlocks it: nothing else is needed on a new machine.
    ///
    /// - Parameters:
    ///   - keyring: Where to.
    ///   - choice: Which generation: of several keyrings, the newest that has its key.
    /// - Throws: ``BackupError``, with ``BackupError/noKeyring(location:generation:)`` where no keyring that is stored has the key;
    ///   `KeyringError`.
    public func restoreKeyring(to keyring: Keyring, for choice: GenerationChoice = .newest) throws {
        try storage.locked(exclusively: false) {
            let manifest = try manifest(choice, atLeast: nil).manifest
            guard let stored = try storedKeyrings(marker()).last(where: { $0.has(keyOf: manifest) }) else {
                throw BackupError.noKeyring(location: storage.description, generation: manifest.number)
            }
            try keyring.create(copyOf: stored.keyring)
        }
    }

    /// The keyrings that are whole, the oldest first. `damaged` is told of others.
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

    /// Removes those without which each generation that is kept has a keyring with its key. The newest stays.
    func removeKeyrings(neededBy kept: [Manifest], _ marker: RepositoryMarker) throws {
        var missing = Set(kept.compactMap(\.keyIdentifier))
        for (place, stored) in try storedKeyrings(marker).reversed().enumerated() {
            if place > 0, missing.isDisjoint(with: stored.identifiers) {
                try storage.remove(StoredKeyring.directory + "/" + stored.name)
            }
            missing.subtract(stored.identifiers)
        }
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

    init(_ keyring: UnlockedKeyring) {
        self.keyring = keyring
    }

    /// Whether the keyring has other slots or keys than what was stored last.
    func isDue() throws -> Bool { try !keyring.isCurrent(in: last) }

    /// Stores the keyring, if its slots or keys are others than those of the newest one that is stored, and removes those that have no key
    /// which it lacks. The caller has the lock.
    func run(_ repository: BackupRepository, _ marker: RepositoryMarker) throws {
        guard try isDue() else { return }
        let present = try repository.storedKeyrings(marker)
        if let newest = present.last, try keyring.isCurrent(in: newest.keyring) { return last = newest.keyring }
        // A number that says so must not end the process, nor hide what is stored now.
        if let newest = present.last, newest.number == Manifest.highestNumber {
            throw BackupError.damagedObject(StoredKeyring.directory + "/" + newest.name)
        }
        let (file, keys) = try keyring.copy()
        let identifiers = try keys.map { key in
            // The salt is no part of a raw key.
            let derived = try key.derive(salt: [UInt8](repeating: 0, count: CipherFormat.saltSize), format: .v4)
            return try BackupKey(derived, repository: marker.identifier).identifier
        }
        let stored = try StoredKeyring(
            file,
            Set(identifiers),
            number: (present.last?.number ?? 0) + 1,
            repository: marker.identifier
        )
        try repository.storage.add(StoredKeyring.directory + "/" + stored.name, stored.file)
        for old in present where old.identifiers.isSubset(of: stored.identifiers) {
            try repository.storage.remove(StoredKeyring.directory + "/" + old.name)
        }
        last = file
    }
}
