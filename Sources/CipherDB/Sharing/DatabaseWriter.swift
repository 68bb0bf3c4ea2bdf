public import CipherKeys

/// A shared database, to read from and write to: a ``DatabaseQueue`` or a ``DatabasePool``.
///
/// Blocks that write run one at a time, in the order in which they come.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs `body` with the connection that writes, outside of a transaction, when the blocks before it are done: for `VACUUM`
    /// and pragmas, and for what opens its own transactions.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/misuse`` when called from inside a block, or after
    ///   `DatabaseReader/close()`; ``KeyError``.
    @discardableResult
    func inDatabase<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result

    /// Asynchronous version; does not block the calling thread. The block runs in the caller's task.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    func inDatabase<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result

    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it wait, and
    /// go on with the new key.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    func rekey(_ newKey: DatabaseKey) throws

    /// Asynchronous version; does not block the calling thread. Once it began it cannot be cancelled.
    ///
    /// - Throws: as the synchronous version; `CancellationError` before it began.
    func rekey(_ newKey: DatabaseKey) async throws

    /// Gives the database a new random key, as ``Database/rotateKey(of:)`` does, when the blocks before are done; those after
    /// it wait, and go on with the new key.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``.
    func rotateKey(of keyring: UnlockedKeyring) throws

    /// Asynchronous version; does not block the calling thread. Once it began it cannot be cancelled.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``; `CancellationError` before it began.
    func rotateKey(of keyring: UnlockedKeyring) async throws
}

/// Blocks in transactions and savepoints.
extension DatabaseWriter {
    /// Runs `body` in a transaction, when the blocks before it are done: committed when it returns, rolled back when it
    /// throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` where the transaction cannot be begun or committed, and then the
    ///   changes are undone, unless the message says that the disk failed while the commit was written; else as `inDatabase(_:)`.
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
        try inTransaction(kind) { database, _ in try body(database) }
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task rolls back.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await inTransaction(kind) { database, _ in try body(database) }
    }

    /// Runs `body` in a transaction, which is rolled back when it throws or sets its second argument.
    ///
    /// - Throws: as `write(_:)`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        guard kind == .immediate, let writer = self as? any CommitSharing else {
            return try inDatabase { try $0.inTransaction(kind, body) }
        }
        return try writer.inSharedTransaction(body)
    }

    /// Asynchronous version; does not block the calling thread. A cancelled task rolls back.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func inTransaction<Result: Sendable>(
        _ kind: TransactionKind = .immediate,
        _ body: @Sendable (Database, _ rollback: inout Bool) throws -> Result
    ) async throws -> Result {
        guard kind == .immediate, let writer = self as? any CommitSharing else {
            return try await inDatabase { database in
                try database.inTransaction(kind) { try checkingCancellation(body($0, &$1)) }
            }
        }
        return try await writer.inSharedTransaction { try checkingCancellation(body($0, &$1)) }
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

/// Runs transactions that may share a commit (``Configuration/sharesCommits``).
protocol CommitSharing {
    func inSharedTransaction<Result: Sendable>(
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result

    /// Asynchronous version; does not block the calling thread.
    func inSharedTransaction<Result: Sendable>(
        _ body: @Sendable (Database, _ rollback: inout Bool) throws -> Result
    ) async throws -> Result
}

/// The result of a block, whose task may have been cancelled where there was no statement to interrupt.
private func checkingCancellation<Result>(_ result: Result) throws -> Result {
    try Task.checkCancellation()
    return result
}

/// What a ``Database`` does outside of transactions, when the blocks before it are done.
extension DatabaseWriter {
    /// Runs the steps that the database does not have behind it; see ``Database/migrate(_:options:)``.
    ///
    /// - Returns: the names of the steps that were run.
    /// - Throws: ``MigrationError``, ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func migrate(_ steps: [Migration], options: MigrationOptions = []) throws -> [String] {
        try inDatabase { try $0.migrate(steps, options: options) }
    }

    /// Asynchronous version; does not block the calling thread. When the task is cancelled, the step that runs is
    /// undone, and those before it stay done.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func migrate(_ steps: [Migration], options: MigrationOptions = []) async throws -> [String] {
        try await inDatabase { try $0.migrate(steps, options: options) }
    }
}

// For the compiler: where a task or a task group wants no result, `{ try await pool.write { try $0.insert(…) } }` would be ambiguous,
// as either closure could drop the result. `read` has no such form: with it a result set that leaves its block would be dropped in silence.
extension DatabaseWriter {
    /// As the form with a result.
    public func write(_ body: @Sendable (Database) throws -> Void) async throws {
        try await inTransaction(.immediate, body)
    }

    /// As the form with a result.
    public func inDatabase(_ body: @Sendable (Database) throws -> Void) async throws {
        _ = try await inDatabase { database in
            try body(database)
            return true
        }
    }

    /// As the form with a result.
    public func inTransaction(
        _ kind: TransactionKind = .immediate,
        _ body: @Sendable (Database) throws -> Void
    ) async throws {
        _ = try await inTransaction(kind) { database in
            try body(database)
            return true
        }
    }

    /// As the form with a result.
    public func inSavePoint(_ body: @Sendable (Database) throws -> Void) async throws {
        _ = try await inSavePoint { database in
            try body(database)
            return true
        }
    }
}
