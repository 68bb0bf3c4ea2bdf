internal import Dispatch

extension DatabasePool {
    /// Runs `body` with a reader, on this thread, and waits for one where all are in use.
    ///
    /// The block sees one state of the database from its first statement to its end, and cannot change it.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/busy`` when no reader became free within
    ///   ``Configuration/readerWaitingLimit``, with ``ResultCode/readOnly`` for a statement that writes, with
    ///   ``ResultCode/misuse`` after ``close()``; ``KeyError``.
    public func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        if let reader = readers.current { return try body(reader.database) }
        let reader = try readers.take()
        defer { readers.giveBack(reader) }
        return try readers.run(reader) { try snapshot($0, body) }
    }

    /// Runs `body` with a reader, without holding up a thread of the caller's.
    ///
    /// When the task is cancelled before `body` begins it does not begin; when it is cancelled later, the statement that
    /// runs is interrupted.
    ///
    /// - Throws: as the form that waits; `CancellationError`.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let turn = Turn()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                readers.take(turn) { [self] taken in
                    do {
                        let reader = try taken.get()
                        reader.queue.async { [self] in
                            let result = Swift.Result {
                                try turn.begin(reader.interrupter)
                                defer { turn.end() }
                                return try readers.run(reader) { database in
                                    try database.watched(by: turn) { database, _ in try snapshot(database, body) }
                                }
                            }
                            readers.giveBack(reader)
                            continuation.resume(with: result)
                        }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        } onCancel: {
            turn.cancel()
        }
    }

    /// Runs `body` with the writer in a transaction, when the writing blocks before it are done: committed when it returns,
    /// rolled back when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``, with ``ResultCode/misuse`` when called from inside a block of this
    ///   pool; ``KeyError``.
    @discardableResult
    public func write<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try inTransaction(.immediate, body)
    }

    /// Runs `body` with the writer in a transaction, without holding up a thread of the caller's: committed when it
    /// returns, rolled back when it throws or the task is cancelled.
    ///
    /// - Throws: as the form that waits; `CancellationError`.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await writer.inTransaction(.immediate, body)
    }

    /// Runs `body` with the writer, outside of a transaction, when the writing blocks before it are done: for `VACUUM` and
    /// for pragmas.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inDatabase<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try checkNotReading()
        return try writer.inDatabase(body)
    }

    /// Runs `body` with the writer in a transaction of a kind.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try checkNotReading()
        return try writer.inTransaction(kind, body)
    }

    /// Runs `body` with the writer in a transaction, which is rolled back when it throws or sets its second argument.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try checkNotReading()
        return try writer.inTransaction(kind, body)
    }

    /// Runs `body` with the writer in a savepoint, whose changes are undone when it throws.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inSavePoint<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try checkNotReading()
        return try writer.inSavePoint(body)
    }

    /// Runs `body` with the writer in a savepoint, whose changes are undone when it throws or sets its second argument.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inSavePoint<Result: Sendable>(
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try checkNotReading()
        return try writer.inSavePoint(body)
    }

    // MARK: Async forms of the writer

    /// Runs `body` with the writer, outside of a transaction, without holding up a thread of the caller's.
    ///
    /// - Throws: as `write(_:)`; `CancellationError`.
    @discardableResult
    public func inDatabase<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await writer.inDatabase(body)
    }

    /// Runs `body` with the writer in a transaction of a kind, without holding up a thread of the caller's.
    ///
    /// - Throws: as `write(_:)`; `CancellationError`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await writer.inTransaction(kind, body)
    }

    /// Runs a reading block in a transaction of its own, so that all of it sees one state.
    private func snapshot<Result>(_ database: Database, _ body: (Database) throws -> Result) throws -> Result {
        try database.executeStatements("BEGIN DEFERRED")
        let result = Swift.Result { try body(database) }
        database.closeOpenResultSets()
        if database.isInTransaction { try? database.rollback() }
        return try result.get()
    }
}
