public import CipherBackup
public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem

/// A database that was restored, and what proves it.
public struct RestoreResult: Sendable, Equatable {
    /// The generation that was restored.
    public let generation: Generation
    /// What the key has proved; nil without a key.
    public let proof: RestoreProof?
}

/// What the key of a restored database has proved.
public struct RestoreProof: Sendable, Equatable {
    /// The format of the database.
    public let format: CipherFormat
    /// How many pages it has. Each has the right MAC, unless the format has none.
    public let pages: Int
    /// Whether the manifest has the right MAC: all pages are of one state, and that of this generation.
    public let isManifestAuthenticated: Bool
    /// Whether SQLite's integrity check was run, and found nothing. It is not where this engine does not open the format.
    public let isStructureChecked: Bool
    /// As ``Verification/unchecked``.
    public let unchecked: [String]
}

extension DatabaseFile {
    /// Makes this file from a generation of a repository. It gets its name when it is complete and proved.
    ///
    /// Each block must have the digest that the manifest names. With a key, the manifest and every page must have the right MAC, and SQLite's
    /// integrity check must find nothing.
    ///
    /// - Parameters:
    ///   - repository: Where from.
    ///   - choice: Which generation.
    ///   - expected: The number that the newest generation has at least; nil for any. It shows that newer ones were removed.
    ///   - key: The key of the database, as it was then; nil to restore without a proof.
    ///   - acceptsUnauthenticated: Whether a generation is accepted that was stored without a key, although there is a key now.
    ///   - progress: Called about every mebibyte; what it throws ends the restore, and nothing is left of it.
    /// - Throws: `BackupError`; `KeyError`; ``FileError``; `DatabaseError`.
    @discardableResult
    public func restore(
        from repository: BackupRepository,
        _ choice: GenerationChoice = .newest,
        atLeast expected: UInt64? = nil,
        key: DatabaseKey? = nil,
        acceptsUnauthenticated: Bool = false,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RestoreResult {
        try restore(
            from: repository,
            choice,
            atLeast: expected,
            keyOf: { _ in key },
            acceptsUnauthenticated: acceptsUnauthenticated,
            progress: progress
        )
    }

    /// As ``restore(from:_:atLeast:key:acceptsUnauthenticated:progress:)``; asks for the key of the new file, by its temporary path.
    ///
    /// - Parameter otherKeys: Of a keyring: one of them may prove the generation that is expected. Passphrases are left out.
    package func restore(
        from repository: BackupRepository,
        _ choice: GenerationChoice,
        atLeast expected: UInt64?,
        keyOf: (String) throws -> DatabaseKey?,
        otherKeys: [DatabaseKey] = [],
        acceptsUnauthenticated: Bool,
        progress: (FileProgress) throws -> Void
    ) throws -> RestoreResult {
        try limitingWaits {
            try checkFree(path)
            return try repository.reading {
                let run = try RestoreRun(repository, choice, atLeast: expected)
                try Leftovers(of: path).remove()
                let new = try ReplacementFile(beside: path)
                defer { new.discard() }
                try run.run(into: new) { try progress(FileProgress(.restoring, done: $0, all: $1)) }
                try new.sync()
                let proof = try keyOf(new.path).map {
                    try prove(new, run, $0, otherKeys, acceptsUnauthenticated, progress)
                }
                try checkFree(path)
                try new.giveName(path)
                return RestoreResult(generation: run.generation, proof: proof)
            }
        }
    }

    private func prove(
        _ new: ReplacementFile,
        _ run: RestoreRun,
        _ key: DatabaseKey,
        _ otherKeys: [DatabaseKey],
        _ acceptsUnauthenticated: Bool,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RestoreProof {
        let present = try keyOfRestored(new.path, key)
        var isAuthenticated = true
        do {
            try run.authenticate(present.key, others: ExpectedGeneration.keys(otherKeys))
        } catch BackupError.unauthenticated where acceptsUnauthenticated {
            isAuthenticated = false
        }
        let scan = try PageScan(database: new, log: nil, key: present.key, format: present.format).run {
            try progress(FileProgress(.verifying, pages: $0, of: $1, size: present.format.pageSize))
        }
        guard scan.isSound else { throw KeyError(path: path, scan) }
        let canOpen = Engine.current.writes(present.format)
        let found = canOpen ? try checkNew(new.path, present, progress) : StructureCheck()
        if let problem = found.problems.first {
            throw DatabaseError(
                code: .corrupt,
                message:
                    "the restored database is not sound, as it was when it was stored; restored without its key it is not checked, and can be "
                    + "recovered: \(problem)"
            )
        }
        return RestoreProof(
            format: present.format,
            pages: scan.pages,
            isManifestAuthenticated: isAuthenticated,
            isStructureChecked: canOpen,
            unchecked: found.unchecked
        )
    }

    private func keyOfRestored(_ path: String, _ key: DatabaseKey) throws -> VerifiedKey {
        var restored = DatabaseFile(path: path)
        (restored.configuration.format, restored.iterations, restored.configuration.searchedIterations) = (
            configuration.format, iterations, configuration.searchedIterations
        )
        do {
            let file = try restored.open()
            defer { file.close() }
            return try restored.authenticateUndamaged(key, file)
        } catch var error as KeyError {
            // The temporary name is nobody's.
            error.path = self.path
            throw error
        }
    }
}
