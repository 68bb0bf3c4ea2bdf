internal import CipherBackup
internal import CipherDB
internal import CipherKeys
internal import CipherSystem

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
