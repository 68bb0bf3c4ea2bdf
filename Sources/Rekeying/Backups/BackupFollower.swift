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
    /// What the last look noticed that stored nothing.
    package private(set) var warning: BackupWarning?
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
        upkeep = BackupUpkeep(repository, keyring: keyring, keeping: policy, lowersNote: expected.isAny)
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
        warning = nil
        let result = try storeChanges(isLast, progress)
        if let result {
            lag = wasCurrent.map { .now - $0 }
            upkeep.add(result)
        } else if last != nil {
            warning = try session.storeKeyring()
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

/// Follows the file of a queue or a pool, under the key that it has, on threads that may block.
final class SharedFollower: Sendable {
    private let writer: any DatabaseWriter
    private let worker = SerialWorker(label: "CipherDB.ContinuousBackup")
    /// Touched only by blocks that run on `worker`, one at a time.
    nonisolated(unsafe) private let follower: BackupFollower
    /// For locks, in one look, unless the caller has a limit.
    private static let waitingLimit = Duration.seconds(5)

    /// The queue or pool was closed.
    struct Closed: Error {
        let cause: DatabaseError
    }

    init(
        _ writer: any DatabaseWriter,
        _ repository: BackupRepository,
        keyring: UnlockedKeyring?,
        keeping policy: RetentionPolicy?
    ) throws {
        let file = DatabaseFile(path: try writer.keyedFile().path)
        self.writer = writer
        follower = BackupFollower(
            file,
            repository,
            expecting: try ExpectedGeneration(keyring, atLeast: nil),
            keyring: keyring,
            keeping: policy
        ) {
            let key = try writer.openKeyedFile().key
            return (try file.database(under: key), key)
        }
    }

    /// Runs `body`, without a thread of the caller's that waits. It does not wait for locks after the task is cancelled.
    ///
    /// - Throws: ``Closed``; what `body` throws.
    func use<Result: Sendable>(
        _ body: @escaping @Sendable (BackupFollower) throws -> Result
    ) async throws -> Result {
        let before = try await onWorker { [writer] in try writer.openKeyedFile().key.key }
        do {
            return try await onWorker { [self] in try body(follower) }
        } catch  where error is DatabaseError || error is KeyError {
            try Task.checkCancellation()
            // A change of key has the writer's turn until the file is under one key. If the writer was closed, the question for its key says so.
            try? await writer.inDatabase { _ in }
            let isChanged = try await onWorker { [writer] in try !(writer.openKeyedFile().key.key == before) }
            guard isChanged else { throw error }
            return try await onWorker { [self] in try body(follower) }
        }
    }

    private func onWorker<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let wait = LockWait.current(or: SharedFollower.waitingLimit)
        return try await withTaskCancellationHandler {
            try await worker.run { try LockWait.limiting(to: wait, body) }
        } onCancel: {
            wait.end()
        }
    }
}

extension DatabaseReader {
    /// As `keyedFile()`.
    ///
    /// - Throws: also ``SharedFollower/Closed``.
    fileprivate func openKeyedFile() throws -> KeyedFile {
        do {
            return try keyedFile()
        } catch let error as DatabaseError where error.code == .misuse {
            throw SharedFollower.Closed(cause: error)
        }
    }
}

/// Which file has a path, and when it was changed: whether it may have changed since.
struct FileStamp {
    private let identity: [UInt64]
    private let size: Int64
    private let modified: Int64
    private let taken: Int64

    /// A change within the same tick of the file system's clock leaves the time of an earlier one.
    private static let tick: Int64 = 1_000_000_000

    init(_ path: String) throws {
        let status = try FileError.naming(path, Platform.status(of: path))
        (identity, size, modified) = (status.identity, status.size, status.modified)
        taken = Platform.wallClock
    }

    /// Whether both are of one file.
    func isSameFile(as other: FileStamp) -> Bool { identity == other.identity }

    /// Whether the file is certainly what it was when this one was taken.
    func isUnchanged(in later: FileStamp) -> Bool {
        isSameFile(as: later) && size == later.size && modified == later.modified && taken - modified > FileStamp.tick
    }
}
