public import CipherKeys
internal import CipherSystem

/// One connection that writes and several that read one file, in WAL mode.
///
/// Readers do not wait for the writer nor the writer for them. Each reading block sees the database as it was when the
/// block first looked, however long it takes and whatever is written meanwhile. A passphrase is derived once, when the pool
/// opens; readers are opened when they are first needed, from the derived key.
///
/// ```swift
/// let pool = try await DatabasePool(path: "vault.db", key: .passphrase("correct horse battery staple"))
/// try await pool.write { database in
///     try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
/// }
/// let count = try await pool.read { database in try database.int(forQuery: "SELECT count(*) FROM notes") }
/// ```
///
/// Blocks of one pool never wait for each other in a circle. A reading block inside of a writing one gets a reader, and
/// sees what was committed before; a reading block inside of a reading one goes on with the same reader and snapshot; a
/// writing block inside of any other throws at once.
public final class DatabasePool: DatabaseWriter {
    /// The path as it was given; nil for a database in memory.
    public var path: String? { writer.path }

    let writer: DatabaseQueue
    let readers: ReaderPool

    /// Opens readers with the key of `writer`.
    ///
    /// - Parameter configuration: As it was given for the pool.
    init(_ writer: DatabaseQueue, _ configuration: Configuration) {
        let mayJoin = configuration.shouldAddReader
        readers = ReaderPool(
            maximum: configuration.maximumReaders,
            waitingLimit: configuration.readerWaitingLimit,
            overdue: { [instruments = writer.instruments] in instruments.failed($0.code, $0.message) }
        ) {
            let reader = try writer.openReader()
            guard try mayJoin?(reader) ?? true else {
                throw DatabaseError(.misuse, "Configuration.shouldAddReader refused a new reader")
            }
            return reader
        }
        self.writer = writer
    }

    deinit {
        guard isOwn else { return }
        // The writer at last, so that one of them copies the write-ahead log.
        SerialWorker.close { [readers, writer] in
            withExtendedLifetime(writer) { readers.close() }
        }
    }

    /// False in a forked child, which has none of the threads that would release what it waits for.
    private var isOwn: Bool { writer.owner.isCurrent }

    /// How many readers there are, idle or in use, how many are in use, and how many blocks wait for one; none in a child of the process
    /// that opened the pool.
    public var readerCounts: (open: Int, inUse: Int, waiting: Int) {
        guard isOwn else { return (0, 0, 0) }
        let counts = readers.counts
        return (counts.idle + counts.checkedOut, counts.checkedOut, counts.waiting)
    }

    /// Closes the readers that are not in use, to save memory; others are opened when they are needed.
    public func releaseReaders() {
        guard isOwn else { return }
        readers.closeIdle()
    }

    /// Stops every statement that runs, which fails with ``ResultCode/interrupted``.
    public func interrupt() {
        guard isOwn else { return }
        writer.interrupt()
        readers.interruptAll()
    }

    /// Closes the pool: what waits for a reader gets an error, blocks that run come to their end, later calls throw. Closing
    /// twice does nothing. In a child of the process that opened it nothing is closed.
    ///
    /// - Throws: ``DatabaseError`` when called from inside a block of this pool.
    public func close() throws {
        guard isOwn else { return }
        try checkNotReading()
        try writer.close { [readers] in readers.close() }
    }

    /// Asynchronous version; does not block the calling thread.
    public func close() async throws {
        guard isOwn else { return }
        try await writer.close { [readers] in readers.close() }
    }

    /// Throws inside of a reading block: there, waiting for the writer could be waiting for oneself.
    func checkNotReading() throws {
        try writer.owner.check(.database)
        guard readers.current == nil else {
            throw DatabaseError(
                .misuse,
                "a reading block of this pool called the writer; write before or after the block"
            )
        }
    }
}

extension DatabasePool {
    /// Opens the file with its key, verifies it, and sets its journal to the write-ahead log.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key. Such a pool has one connection:
    ///     its blocks run one at a time, and a reading block inside of a writing one throws.
    ///   - key: The key, or the keyring that holds it; none only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: ``Configuration/maximumReaders`` and ``Configuration/readerWaitingLimit`` are the pool's.
    ///   - flags: For reading and writing, and made where it does not exist, unless set. For reading only, the journal stays
    ///     what it is, and writing throws.
    /// - Throws: as ``Database/open(key:flags:)``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: some KeyProvider = ProvidedKey.none,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let writing = try configuration.ofWriter(path, flags)
        self.init(try DatabaseQueue(path: path, key: key, configuration: writing, flags: flags), configuration)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        path: String?,
        key: some KeyProvider = ProvidedKey.none,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        let writing = try configuration.ofWriter(path, flags)
        self.init(try await DatabaseQueue(path: path, key: key, configuration: writing, flags: flags), configuration)
    }
}

extension Configuration {
    /// That of the connection which writes.
    fileprivate func ofWriter(_ path: String?, _ flags: OpenFlags) throws -> Configuration {
        guard maximumReaders > 0 else { throw DatabaseError(.range, "a pool has at least one reader") }
        var configuration = self
        let isInMemory = ["", ":memory:"].contains(path ?? "")
        configuration.journalMode = flags.contains(.readWrite) && !isInMemory ? .wal : nil
        return configuration
    }
}

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
        try writer.checkIsActive()
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
        try SerialWorker.checkThreads()
        try writer.checkIsActive()
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

extension DatabasePool: CommitSharing {
    func inSharedTransaction<Result: Sendable>(
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try checkNotReading()
        return try writer.inSharedTransaction(body)
    }

    func inSharedTransaction<Result: Sendable>(
        _ body: @Sendable (Database, _ rollback: inout Bool) throws -> Result
    ) async throws -> Result {
        try await writer.inSharedTransaction(body)
    }
}

extension DatabasePool {
    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, while the pool lives.
    ///
    /// It waits for the writing blocks before it, then for the reading blocks that run, up to ``Configuration/readerWaitingLimit``. Blocks
    /// that come meanwhile wait, and go on with the new key; none of them is lost, and none sees a reader under the old key.
    ///
    /// - Throws: ``RekeyError``, with `RekeyError.notStarted` where a reading block did not end in time: nothing was
    ///   done then, and the pool goes on. ``DatabaseError`` with ``ResultCode/busy`` where a connection that is not the
    ///   pool's is in the way.
    public func rekey(_ newKey: DatabaseKey) throws {
        try checkNotReading()
        try writer.changeKey(keepingOut: withoutReaders(for: readers.waitingLimit)) { try $0.rekey(newKey) }
    }

    /// Asynchronous version; does not block the calling thread. Once it has the file to itself it cannot be cancelled.
    ///
    /// - Throws: as the synchronous version; `CancellationError` before it has the file to itself.
    public func rekey(_ newKey: DatabaseKey) async throws {
        try await rekey(newKey, within: readers.waitingLimit)
    }

    func rekey(_ newKey: DatabaseKey, within limit: Duration) async throws {
        try await writer.changeKey(keepingOut: withoutReaders(for: limit)) { try $0.rekey(newKey) }
    }

    /// Gives the database a new random key, as ``Database/rotateKey(of:)`` does, while the pool lives.
    ///
    /// - Throws: as `rekey(_:)`; ``KeyringError``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        try checkNotReading()
        try writer.changeKey(keepingOut: withoutReaders(for: readers.waitingLimit)) { try $0.rotateKey(of: keyring) }
    }

    /// Asynchronous version; does not block the calling thread. Once it has the file to itself it cannot be cancelled.
    ///
    /// - Throws: as the synchronous version; `CancellationError` before it has the file to itself.
    public func rotateKey(of keyring: UnlockedKeyring) async throws {
        try await writer.changeKey(keepingOut: withoutReaders(for: readers.waitingLimit)) {
            try $0.rotateKey(of: keyring)
        }
    }

    private func withoutReaders(for limit: Duration) -> @Sendable (() throws -> Void) throws -> Void {
        { [readers, path] in try readers.withoutReaders(of: path, within: limit, $0) }
    }
}
