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
