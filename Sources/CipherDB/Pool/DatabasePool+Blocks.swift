extension DatabasePool {
    /// Runs `body` with a reader, on this thread, and waits for one where all are in use.
    ///
    /// The block sees one state of the database from its first statement to its end, and cannot change it.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/busy`` when no reader became free within
    ///   ``Configuration/readerWaitingLimit``, with ``ResultCode/readOnly`` for a statement that writes, with
    ///   ``ResultCode/misuse`` after `close()`; ``KeyError``; ``UsedAfterFork`` in a child of the process that opened the pool.
    public func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try writer.owner.check(.database)
        if writer.isInMemory { return try writer.read(body) }
        if let reader = readers.current { return try body(reader.database) }
        return try writer.instruments.call(.read) {
            let stopwatch = Stopwatch()
            let reader = try readers.checkOut()
            defer { readers.release(reader) }
            writer.instruments.waited(stopwatch, for: .read)
            return try readers.run(reader) { try $0.inSnapshot(body) }
        }
    }

    /// Runs `body` with a reader, without blocking a thread of the caller's. It runs in the caller's task:
    /// `Task.isCancelled` and task-local values are the caller's.
    ///
    /// When the task is cancelled before `body` begins it does not begin; when it is cancelled later, the statement that
    /// runs is interrupted.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try writer.owner.check(.database)
        if writer.isInMemory { return try await writer.read(body) }
        let cancellation = TaskCancellation()
        let instruments = writer.instruments
        return try await instruments.call(.read) {
            let stopwatch = Stopwatch()
            return try await withTaskCancellationHandler {
                try await TaskBlock(readers.lender, cancellation).run { [readers] grant in
                    let reader = try readers.reader(grant)
                    defer { readers.release(reader) }
                    return try cancellation.run(reader.interrupter) {
                        instruments.waited(stopwatch, for: .read)
                        return try readers.run(reader) {
                            try $0.watched(by: cancellation) { try $0.inSnapshot(body) }
                        }
                    }
                }
            } onCancel: {
                cancellation.cancel()
            }
        }
    }

    /// Runs `body` with the writer, outside of a transaction, when the writing blocks before it are done: for `VACUUM` and
    /// for pragmas.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``, with ``ResultCode/misuse`` when called from inside a block of this
    ///   pool; ``KeyError``.
    @discardableResult
    public func inDatabase<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try checkNotReading()
        return try writer.inDatabase(body)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inDatabase<Result: Sendable>(
        _ body: @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await writer.inDatabase(body)
    }
}
