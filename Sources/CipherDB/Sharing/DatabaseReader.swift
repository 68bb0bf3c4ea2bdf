/// A shared database, to read from: a ``DatabaseQueue`` or a ``DatabasePool``.
///
/// What takes `some DatabaseReader` works with either, and in a test with a database in memory.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The path as it was given; nil for a database in memory.
    var path: String? { get }

    /// Runs `body` with a connection that sees one state of the database and cannot change it, and waits for it.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/readOnly`` for a statement that writes; ``KeyError``.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result

    /// Asynchronous version; does not block the calling thread. The block runs in the caller's task:
    /// `Task.isCancelled` and task-local values are the caller's.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result

    /// A value read by `read` as it is, and again after each commit that touched the tables it was read from.
    ///
    /// - Parameter read: Reads it, and takes the same way each time. Reading may fail, which ends the sequence with that error.
    func observe<Value: Sendable>(_ read: @escaping @Sendable (Database) throws -> Value) -> ValueObservation<Value>

    /// The tables that commits change from now on: of some tables, or all with nil.
    func tableChanges(of tables: [TableName]?) -> TableChanges

    /// Each commit from now on that changed something.
    func commits() -> AsyncStream<Commit>

    /// Looks whether another connection or process committed since the last look; then all that is observed is read again.
    @discardableResult func checkForForeignChanges() throws -> Bool

    /// Asynchronous version; does not block the calling thread.
    @discardableResult func checkForForeignChanges() async throws -> Bool

    /// Stops every statement that runs, which fails with ``ResultCode/interrupted``.
    func interrupt()

    /// Closes it when the blocks before are done, however long that takes. Closing twice does nothing; other calls throw afterwards.
    ///
    /// One that a task drops without closing it is closed a moment later, on another thread.
    ///
    /// - Throws: ``DatabaseError`` when called from inside a block.
    func close() throws

    /// Asynchronous version; does not block the calling thread.
    func close() async throws
}

extension DatabaseReader {
    /// The tables of these, or of all without any, that commits change from now on.
    public func tableChanges(of tables: TableName...) -> TableChanges {
        tableChanges(of: tables.isEmpty ? nil : tables)
    }
}

/// The file of a shared database, and the key that it is under.
package struct KeyedFile: Sendable {
    package let path: String
    package let key: VerifiedKey

    /// - Parameter path: As the engine has it: empty for a database in memory.
    init(_ path: String, _ key: VerifiedKey?) throws {
        guard !path.isEmpty else { throw DatabaseError(.misuse, "a database in memory has no file") }
        guard let key else { throw KeyError(.notEncrypted, path: path) }
        self.path = path
        self.key = key
    }
}

extension DatabaseReader {
    /// What another connection is opened with now. Of a queue or a pool it does not wait for a block.
    ///
    /// - Throws: ``DatabaseError`` for a database in memory, and after `close()`; ``KeyError`` for a plaintext file.
    package func keyedFile() throws -> KeyedFile {
        switch self {
        case let pool as DatabasePool: try pool.writer.latestKeyedFile()
        case let queue as DatabaseQueue: try queue.latestKeyedFile()
        // A program's own type, around one of these.
        default: try read { try KeyedFile($0.connection?.filename ?? "", $0.verifiedKey) }
        }
    }
}

extension DatabaseQueue {
    fileprivate func latestKeyedFile() throws -> KeyedFile {
        try owner.check(.database)
        guard let access = latestKey.withLock({ $0 }) else { throw DatabaseError.closed }
        try checkIsActive()
        return try KeyedFile(filename, access.key)
    }
}
