public import CipherBackup
public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// What a backup stored.
public struct BackupResult: Sendable, Equatable {
    /// The generation that has the state of the database.
    public let generation: Generation
    /// Whether it was made now; false where nothing has changed since it was.
    public let isNew: Bool
    /// The format of the database; nil without a key.
    public let format: CipherFormat?
    /// What was noticed in the repository.
    public let warnings: [BackupWarning]
    /// The key that proves the generation; nil without one.
    let key: DerivedKey?

    /// Whether both are of the same generation, and say the same of it.
    public static func == (first: BackupResult, second: BackupResult) -> Bool {
        first.generation == second.generation && first.isNew == second.isNew && first.format == second.format
            && first.warnings == second.warnings
    }

    init(_ stored: StoredGeneration, _ key: PageKey?) {
        generation = stored.generation
        isNew = stored.isNew
        warnings = stored.warnings
        format = key?.format
        self.key = key?.key
    }
}

extension DatabaseFile {
    /// Stores the state of the database in a repository: the first time all of it, later what has changed since. Pages are stored as they
    /// are, encrypted.
    ///
    /// Others go on reading. In WAL mode they go on writing too, but their checkpoints wait or do nothing meanwhile; in rollback mode
    /// writers wait until the database was read.
    ///
    /// - Parameters:
    ///   - repository: Where to; it is made unless it exists.
    ///   - expected: The number that the newest generation there has at least; nil for any. It shows that the repository was replaced by an
    ///     old copy. With a key, a generation counts only if the key proves it.
    ///   - key: The key of the database: each page that is stored is authenticated, and the generation gets a MAC, by which the key
    ///     proves it at a restore. Without a key nothing shows that a page was damaged already, or that somebody has put pages of two states
    ///     together.
    ///   - keyring: Is stored with the generation, wrapped as it is: nothing else is needed on a new machine
    ///     (`BackupRepository.restoreKeyring(to:for:unlockedBy:)`). Unless `key` is given, its key is the database's. The generation that
    ///     it has noted is expected (`BackupRepository.note(_:in:)`).
    ///   - progress: Called about every mebibyte; what it throws ends the backup, and the repository has no generation of it.
    /// - Throws: `KeyError`, also with `KeyError.damaged`; `KeyringError`; `BackupError`; ``FileError``; `DatabaseError`.
    @discardableResult
    public func backUp(
        to repository: BackupRepository,
        atLeast expected: UInt64? = nil,
        key: DatabaseKey? = nil,
        keyring: UnlockedKeyring? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> BackupResult {
        try backUp(
            to: repository,
            expecting: ExpectedGeneration(keyring, atLeast: expected),
            key: key ?? keyring.map { try self.key(in: $0) },
            keyring: keyring,
            progress: progress
        )
    }

    /// As ``backUp(to:atLeast:key:keyring:progress:)``.
    package func backUp(
        to repository: BackupRepository,
        expecting expected: ExpectedGeneration,
        key: DatabaseKey?,
        keyring: UnlockedKeyring?,
        progress: (FileProgress) throws -> Void
    ) throws -> BackupResult {
        let session = BackupSession(repository, expecting: expected, keyring: keyring)
        return try backUpState(in: session, { try key.map { try database(under: $0) } }, progress).result
    }

    /// A state that was stored.
    struct StoredState {
        let result: BackupResult
        /// How much of the WAL it has; nil where there was none.
        let position: LogPosition?
        /// What the file was before it was read.
        let stamp: FileStamp
        let key: PageKey?
    }

    /// Stores the state of the database.
    ///
    /// - Parameter opening: Opens the database, to be closed, under its key; nil to store without one.
    func backUpState(
        in session: BackupSession,
        _ opening: () throws -> (database: Database, key: VerifiedKey)?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> StoredState {
        try limitingWaits {
            // The engine plays back what a transaction left that was cut off.
            let opened = try opening()
            defer { opened?.database.close() }
            return try backUpState(in: session, opened, progress)
        }
    }

    private func backUpState(
        in session: BackupSession,
        _ opened: (database: Database, key: VerifiedKey)?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> StoredState {
        for _ in 0..<3 {
            try FileError.check(path, forWriting: false)
            let stamp = try FileStamp(path)
            let time = BackupRepository.now
            let state = try stableState()
            var isReleased = false
            func release() {
                if !isReleased { state.release() }
                isReleased = true
            }
            defer { release() }
            let position = state.logPosition
            let present = opened?.key
            do {
                try checkState(state, present)
                let key = present.map { ($0.key, $0.format) }
                let stored = try session.store(state, unit: state.unit, key: key, time: time) {
                    if state.isStale { throw StaleState() }
                    // Storing may take long, and needs the database no more: others may change its key.
                    release()
                    opened?.database.close()
                } progress: {
                    try progress(FileProgress(.storing, done: $0, all: $1))
                }
                let result = BackupResult(stored, key)
                return StoredState(result: result, position: position, stamp: stamp, key: key)
            } catch is StaleState {
                continue
            } catch let error as DamagedPages {
                throw KeyError(.damaged, path: path, damagedPages: error.numbers)
            }
        }
        throw busy("other connections go on changing the journal mode; nothing was stored")
    }

    /// The state was read without the locks of the WAL, and there is one now.
    private struct StaleState: Error {}

    private func stableState() throws -> StableFile {
        for _ in 0..<5 {
            let file = try open(plaintext: true)
            do {
                try file.checkMayBeEncrypted(file.kind)
                guard try file.looksEncrypted() else { throw KeyError(.notADatabase, path: path) }
                let state = try StableFile(file)
                if !state.hasMoved { return state }
                state.release()
            } catch {
                file.close()
                throw error
            }
        }
        throw busy("other processes go on replacing the file; nothing was stored")
    }

    /// Throws where the state is not what the key was tried on, or ends early.
    private func checkState(_ state: StableFile, _ present: VerifiedKey?) throws {
        if let present {
            let pages = PageScan(database: state, log: nil, key: present.key, format: present.format)
            let missing = try pages.missingPages()
            let scan = PageScan.Result(pages: missing.lowerBound, damaged: [], missing: missing)
            guard missing.isEmpty else { throw KeyError(path: path, scan) }
        }
        // A database has whole pages.
        let size = try state.size()
        if let pageSize = (present?.format.pageSize).map(Int64.init), size % pageSize != 0 {
            throw KeyError(.damaged, path: path, damagedPages: [Int(size / pageSize) + 1])
        }
        guard size > 0, size % Int64(CipherFormat.pageSizes[0]) == 0 else {
            throw KeyError(.notADatabase, path: path)
        }
    }
}
