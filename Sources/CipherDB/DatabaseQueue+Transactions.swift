extension DatabaseQueue {
    /// Runs `body` in a transaction, which is committed when it returns and rolled back when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` where the transaction cannot be begun or committed, and then the
    ///   changes are undone; else as `inDatabase(_:)`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try inDatabase { try $0.inTransaction(kind, body) }
    }

    /// Runs `body` in a transaction, which is committed when it returns, unless it set its second argument, and rolled
    /// back when it throws.
    ///
    /// - Throws: as the form without the second argument.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try inDatabase { try $0.inTransaction(kind, body) }
    }

    /// Runs `body` in a transaction without holding up a thread of the caller's: committed when it returns, rolled back
    /// when it throws or the task is cancelled.
    ///
    /// - Throws: as the form that waits; `CancellationError`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await inTurn { database, turn in
            try database.inTransaction(kind) { database in
                let result = try body(database)
                // Between two statements there was nothing to interrupt.
                try turn.checkCancellation()
                return result
            }
        }
    }

    /// Runs `body` in a savepoint, whose changes are undone when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``.
    @discardableResult
    public func inSavePoint<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try inDatabase { try $0.inSavePoint(body) }
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
}
