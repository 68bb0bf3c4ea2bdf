package import CipherBackup
package import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// Stores the changes of a database again and again. It keeps no lock and no file open in between. For one thread at a time.
package final class BackupFollower {
    private let file: DatabaseFile
    private let opening: () throws -> (database: Database, key: VerifiedKey)?
    private let session: BackupSession
    private let upkeep: BackupUpkeep
    private var last: Last?
    /// When the database was looked at last, and all of it was stored.
    private var wasCurrent: ContinuousClock.Instant?
    /// Whether the last look, if it did not fail, left nothing to be stored.
    package private(set) var isCurrent = false
    /// For how long at most a commit waited that the last generation has; nil for the first one.
    package private(set) var lag: Duration?
    /// A database that is read whole is read whole again after so many times what that took, so that a large one does not take all of a
    /// processor.
    private static let rest = 4.0

    /// The last generation.
    private struct Last {
        var number: UInt64
        var position: LogPosition?
        var stamp: FileStamp
        var key: PageKey?
        var mayReadWholeAfter: ContinuousClock.Instant
    }

    /// - Parameters:
    ///   - expected: What is known of the repository.
    ///   - keyring: Is stored with the generations, and notes the newest.
    ///   - policy: Which generations are kept; nil for all.
    ///   - keyOf: The key of the file as it is now; nil to store without one. Called whenever the file is read whole.
    package convenience init(
        _ file: DatabaseFile,
        _ repository: BackupRepository,
        expecting expected: ExpectedGeneration = .none,
        keyring: UnlockedKeyring? = nil,
        keeping policy: RetentionPolicy? = nil,
        keyOf: @escaping () throws -> DatabaseKey?
    ) {
        self.init(file, repository, expecting: expected, keyring: keyring, keeping: policy) {
            try keyOf().map { try file.database(under: $0) }
        }
    }

    /// - Parameter opening: Opens the file, to be closed, under its key as it is now; nil to store without one. Called whenever the file is
    ///   read whole.
    init(
        _ file: DatabaseFile,
        _ repository: BackupRepository,
        expecting expected: ExpectedGeneration,
        keyring: UnlockedKeyring?,
        keeping policy: RetentionPolicy?,
        opening: @escaping () throws -> (database: Database, key: VerifiedKey)?
    ) {
        self.file = file
        self.opening = opening
        session = BackupSession(repository, expecting: expected, keyring: keyring)
        upkeep = BackupUpkeep(repository, keyring: keyring, keeping: policy)
    }

    /// Notes the newest generation and removes others, where it is time to; nil where it is not.
    package func keep(isLast: Bool = false) throws -> BackupUpkeep.Result? { try upkeep.run(isLast: isLast) }

    /// Stores what has changed since the last call; nil where nothing has, or where it is too early to read a large file again.
    ///
    /// - Parameter isLast: Whether no other call follows: it is never too early then.
    package func store(
        isLast: Bool = false,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> BackupResult? {
        let began = ContinuousClock.now
        let result = try storeChanges(isLast, progress)
        if let result {
            lag = wasCurrent.map { .now - $0 }
            upkeep.add(result)
        } else if last != nil {
            try session.storeKeyring()
        }
        if result != nil || isCurrent { wasCurrent = began }
        return result
    }

    private func storeChanges(_ isLast: Bool, _ progress: (FileProgress) throws -> Void) throws -> BackupResult? {
        isCurrent = true
        guard let last else { return try storeWhole(progress) }
        let stamp = try FileStamp(file.path)
        let log = file.writeAheadLog
        if let position = last.position, let log, stamp.isSameFile(as: last.stamp) {
            let time = BackupRepository.now
            if let header = try file.walIndexHeader(),
                let changes = try LogChanges(log, since: position, salts: header.salts, frames: header.frames)
            {
                guard changes.pageCount > 0 else { return nil }
                if let result = try store(changes, of: log, last, time) { return result }
            }
        } else if log == nil, last.position == nil, last.stamp.isUnchanged(in: stamp) {
            return nil
        }
        isCurrent = isLast || .now >= last.mayReadWholeAfter
        return isCurrent ? try storeWhole(progress) : nil
    }

    /// Stores what was committed to the WAL; nil where the database has to be read whole.
    private func store(_ changes: LogChanges, of log: FileBytes, _ last: Last, _ time: UInt64) throws -> BackupResult? {
        do {
            guard
                let stored = try session.store(
                    changes,
                    of: log,
                    after: last.number,
                    key: last.key,
                    time: time
                )
            else {
                return nil
            }
            self.last?.number = stored.generation.number
            self.last?.position = changes.position
            return BackupResult(stored, last.key)
        } catch is DamagedPages {
            // Or pages under a new key: reading the database whole tells.
            return nil
        }
    }

    /// Nil where the database is what it was.
    private func storeWhole(_ progress: (FileProgress) throws -> Void) throws -> BackupResult? {
        let began = ContinuousClock.now
        let isFirst = last == nil
        let stored = try file.backUpState(in: session, opening, progress)
        last = Last(
            number: stored.result.generation.number,
            position: stored.position,
            stamp: stored.stamp,
            key: stored.key,
            mayReadWholeAfter: .now + (.now - began) * BackupFollower.rest
        )
        return isFirst || stored.result.isNew ? stored.result : nil
    }
}

extension DatabaseFile {
    /// What the index of the WAL says of it.
    fileprivate func walIndexHeader() throws -> WALIndexHeader? {
        let unkeyed = try open(plaintext: true)
        defer { unkeyed.close() }
        return try unkeyed.walIndexHeader()
    }

    /// The WAL beside the file, if there is one.
    fileprivate var writeAheadLog: FileBytes? {
        guard let path = try? Platform.resolved(path) else { return nil }
        let log = SideFile.writeAheadLog.path(of: path)
        // A link to the database itself would drop this process's locks when it is closed.
        guard let status = try? Platform.statusOfLink(log), status.kind == .regular, status.linkCount == 1 else {
            return nil
        }
        return try? FileBytes(path: log)
    }
}
