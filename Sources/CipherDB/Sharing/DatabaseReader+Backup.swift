public import CipherKeys

extension DatabaseReader {
    /// Copies the whole database, in one state of it, to a new file; see ``Database/backup(to:key:pagesPerStep:progress:)``.
    ///
    /// - Parameters:
    ///   - path: The copy's path; no file may exist there.
    ///   - key: The key of the copy; nil for the same.
    ///   - pagesPerStep: How many pages a step copies.
    ///   - progress: Called after each step; what it throws ends the backup.
    /// - Throws: ``DatabaseError``, ``KeyError``, what `progress` throws; no file is left then.
    public func backup(
        to path: String,
        key: DatabaseKey? = nil,
        pagesPerStep: Int = 256,
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        try read { try $0.backup(to: path, key: key, pagesPerStep: pagesPerStep, progress: progress) }
    }

    /// Asynchronous version; does not block the calling thread. Cancelling the task ends it after a step.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func backup(
        to path: String,
        key: DatabaseKey? = nil,
        pagesPerStep: Int = 256,
        progress: @Sendable (BackupProgress) throws -> Void = { _ in }
    ) async throws {
        try await read { database in
            try database.backup(to: path, key: key, pagesPerStep: pagesPerStep) {
                try Task.checkCancellation()
                try progress($0)
            }
            return
        }
    }
}
