package import CipherKeys

/// What is known of a repository before a backup is stored in it: later generations would hide that it was replaced by an old copy.
package struct ExpectedGeneration: Sendable {
    /// The number that the newest generation has at least; nil where only a keyring may have noted it, 0 where any is accepted.
    let number: UInt64?
    /// With a key, it or one of these must prove that there is such a generation.
    let otherKeys: [DerivedKey]

    /// Nothing is known.
    package static let none = ExpectedGeneration(nil, derivedKeys: [])

    package init(_ number: UInt64?, derivedKeys: [DerivedKey]) {
        self.number = number
        otherKeys = derivedKeys
    }

    /// What authenticates manifests: the salt does not matter to it. Passphrases are left out.
    package static func keys(_ keys: [DatabaseKey]) throws -> [DerivedKey] {
        try keys.filter { !$0.isPassphrase }.map { key in
            try key.derive(salt: [UInt8](repeating: 0, count: CipherFormat.saltSize), format: .v4)
        }
    }

    /// Throws where the newest generation is older.
    ///
    /// - Parameters:
    ///   - noted: The number that a keyring has noted, where none is given.
    ///   - known: The generation that the caller has made, or found proved, last. Another one of its number counts if a key proves it.
    ///   - keys: Those that prove generations; none without a key.
    func check(
        _ names: [String],
        of repository: BackupRepository,
        _ marker: RepositoryMarker,
        noted: UInt64?,
        known: StoredManifest?,
        provedBy keys: [BackupKey]
    ) throws {
        guard number != 0 else { return }
        if let number = number ?? noted {
            try repository.checkNewest(names, marker, atLeast: number) { $0.counts(provedBy: keys) }
        }
        if let known {
            // Its key may be one that the database has no more.
            try repository.checkNewest(names, marker, atLeast: known.manifest.number) {
                $0.file == known.file || $0.counts(provedBy: keys)
            }
        }
    }
}
