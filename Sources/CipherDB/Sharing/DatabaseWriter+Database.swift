/// What a ``Database`` does outside of transactions, when the blocks before it are done.
extension DatabaseWriter {
    /// Runs the steps that the database does not have behind it; see ``Database/migrate(_:)``.
    ///
    /// - Returns: the names of the steps that were run.
    /// - Throws: ``MigrationError``, ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func migrate(_ steps: [Migration]) throws -> [String] {
        try inDatabase { try $0.migrate(steps) }
    }

    /// Asynchronous version; does not block the calling thread. When the task is cancelled, the step that runs is
    /// undone, and those before it stay done.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func migrate(_ steps: [Migration]) async throws -> [String] {
        try await inDatabase { try $0.migrate(steps) }
    }

    /// Copies pages from the write-ahead log into the database file, as ``Database/checkpoint(_:name:)``.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where a reading block holds it up.
    @discardableResult
    public func checkpoint(_ mode: CheckpointMode = .passive) throws -> (logFrameCount: Int, checkpointCount: Int) {
        try inDatabase { try $0.checkpoint(mode) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func checkpoint(
        _ mode: CheckpointMode = .passive
    ) async throws -> (logFrameCount: Int, checkpointCount: Int) {
        try await inDatabase { try $0.checkpoint(mode) }
    }
}
