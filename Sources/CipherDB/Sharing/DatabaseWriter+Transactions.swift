/// Blocks in transactions and savepoints.
extension DatabaseWriter {
    /// Runs `body` in a transaction, when the blocks before it are done: committed when it returns, rolled back when it
    /// throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` where the transaction cannot be begun or committed, and then the
    ///   changes are undone; else as `inDatabase(_:)`.
    @discardableResult
    public func write<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try inTransaction(.immediate, body)
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task rolls back.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func write<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try await inTransaction(.immediate, body)
    }

    /// Runs `body` in a transaction of a kind: committed when it returns, rolled back when it throws.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try inDatabase { try $0.inTransaction(kind, body) }
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task rolls back.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await inDatabase { database in
            try database.inTransaction(kind) { try checkingCancellation(body($0)) }
        }
    }

    /// Runs `body` in a transaction, which is rolled back when it throws or sets its second argument.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try inDatabase { try $0.inTransaction(kind, body) }
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task rolls back.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: @Sendable (Database, _ rollback: inout Bool) throws -> Result
    ) async throws -> Result {
        try await inDatabase { database in
            try database.inTransaction(kind) { try checkingCancellation(body($0, &$1)) }
        }
    }

    /// Runs `body` in a savepoint, whose changes are undone when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``.
    @discardableResult
    public func inSavePoint<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try inDatabase { try $0.inSavePoint(body) }
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task undoes the changes.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inSavePoint<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try await inDatabase { database in
            try database.inSavePoint { try checkingCancellation(body($0)) }
        }
    }

    /// Runs `body` in a savepoint, whose changes are undone when it sets its second argument or throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``.
    @discardableResult
    public func inSavePoint<Result: Sendable>(
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try inDatabase { try $0.inSavePoint(body) }
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task undoes the changes.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inSavePoint<Result: Sendable>(
        _ body: @Sendable (Database, _ rollback: inout Bool) throws -> Result
    ) async throws -> Result {
        try await inDatabase { database in
            try database.inSavePoint { try checkingCancellation(body($0, &$1)) }
        }
    }
}

/// The result of a block, whose task may have been cancelled where there was no statement to interrupt.
private func checkingCancellation<Result>(_ result: Result) throws -> Result {
    try Task.checkCancellation()
    return result
}
