public import CipherKeys
internal import CipherSystem

/// One connection that many threads and tasks share, one at a time, in the order of the calls: FMDB's `FMDatabaseQueue`.
///
/// ```swift
/// let queue = try await DatabaseQueue(path: "vault.db", key: .passphrase("correct horse battery staple"))
/// try await queue.inTransaction { database in
///     try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
/// }
/// let count = try await queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM notes") }
/// ```
///
/// Calling a queue from inside one of its own blocks throws at once; use the database that is passed to the block.
public final class DatabaseQueue: DatabaseWriter {
    /// The path as it was given; nil for a database in memory.
    public let path: String?

    /// Of the blocks, and of closing.
    let turns: TurnQueue
    /// Touched only by blocks, one at a time, and when nobody has the queue any more.
    nonisolated(unsafe) let database: Database
    /// Set while the file is closed by ``DatabaseWriter/suspend()``; touched as ``database``.
    nonisolated(unsafe) var suspended: Suspended?
    let sharedCommits: SharedCommits
    /// A forked child has none of the threads that would release what it waits for.
    let owner = OwnerProcess()
    let interrupter: Lock<Interrupter?>
    let instruments: Instruments
    /// What other connections are opened with; nil when the queue is closed.
    let latestKey: Lock<Access?>
    let flags: OpenFlags
    /// What was committed here.
    let log: ChangeLog
    /// The file's, as the engine has it; empty for a database in memory, also one that a URI names.
    let filename: String
    /// Then another connection would be another database.
    var isInMemory: Bool { filename.isEmpty }

    /// A queue of a database that was opened for it. It waits for nothing.
    init(_ opened: sending OpenedDatabase, flags: OpenFlags) {
        let database = opened.database
        path = database.path
        filename = database.connection?.filename ?? ""
        if !filename.isEmpty, !flags.contains(.uri) { database.place = filename }
        self.flags = flags
        self.database = database
        interrupter = Lock(database.interrupter)
        instruments = database.instruments
        latestKey = Lock(Access(key: database.verifiedKey))
        log = opened.log
        turns = TurnQueue(limit: database.configuration.writerWaitingLimit) { [instruments] in
            instruments.failed($0.code, $0.message)
        }
        database.turns = turns
        // In memory nobody waits for a disk.
        let isOn = database.configuration.sharesCommits && !filename.isEmpty
        sharedCommits = SharedCommits(database, turns, isOn: isOn)
        database.turn.share()
    }

    deinit {
        guard owner.isCurrent else { return }
        log.close()
        // It holds because nobody else has the queue.
        nonisolated(unsafe) let database = database
        SerialWorker.close { [turns] in turns.runWithoutLimit { database.closeInBlock() } }
    }

    /// How the file is opened: with this key, or in plaintext.
    struct Access: Sendable {
        let key: VerifiedKey?
    }

    /// Runs `body` with the database when the blocks before it are done, and waits for it.
    ///
    /// The block leaves nothing open: result sets are closed after it, and a transaction that it began and did not end is
    /// rolled back, which is an error.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/misuse`` when called from inside a block of this
    ///   queue, or after `close()`; ``UsedAfterFork`` in a child of the process that opened it.
    @discardableResult
    public func inDatabase<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try inDatabase(for: .write, body)
    }

    /// - Parameter isShared: Whether it ends with the transaction of ``sharedCommits``, which may be left open.
    private func inDatabase<Result>(
        for access: Instruments.Access,
        isShared: Bool = false,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try owner.check(.database)
        return try instruments.call(access) {
            let stopwatch = Stopwatch()
            let (outcome, commit) = try inTurn {
                instruments.waited(stopwatch, for: access)
                return try runBlock(isShared: isShared, body)
            }
            // A child that the block has forked has not the threads that it would wait for.
            try owner.check(.database)
            // Before its own error, which may be of changes that are undone now.
            try reporting { try commit?.wait() }
            return try outcome.get()
        }
    }

    /// Counts and logs a commit that failed under the block of another.
    private func reporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where StorageFailure.concerns(error.code) {
            instruments.failed(error.code, error.message)
            throw error
        }
    }

    private func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        try checkIsOutside()
        return try turns.run(body)
    }

    func checkIsOutside() throws {
        guard !isInsideOfBlock else {
            throw DatabaseError(
                .misuse,
                "a block of this queue called the queue again; use the database that is passed to the block"
            )
        }
    }

    /// Whether this thread runs a block of this queue.
    private var isInsideOfBlock: Bool { database.turn.isMine }

    /// Runs `body` with the database when the blocks before it are done, without blocking a thread of the caller's. It runs
    /// in the caller's task: `Task.isCancelled` and task-local values are the caller's.
    ///
    /// When the task is cancelled before `body` begins it does not begin; when it is cancelled later, the statement that
    /// runs is interrupted.
    ///
    /// - Throws: what `body` throws; `CancellationError`; ``DatabaseError`` after `close()`.
    @discardableResult
    public func inDatabase<Result: Sendable>(
        _ body: @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await inDatabase(for: .write, body)
    }

    private func inDatabase<Result: Sendable>(
        for access: Instruments.Access,
        isShared: Bool = false,
        _ body: @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try owner.check(.database)
        let cancellation = TaskCancellation()
        return try await instruments.call(access) {
            let stopwatch = Stopwatch()
            let (outcome, commit) = try await withTaskCancellationHandler {
                try await turns.run(unless: cancellation) { [self] in
                    instruments.waited(stopwatch, for: access)
                    var commit: SharedCommit?
                    let outcome = Swift.Result {
                        try cancellation.run(interrupter.withLock { $0 }) {
                            let block = try runBlock(isShared: isShared) { try $0.watched(by: cancellation, body) }
                            commit = block.commit
                            return try block.outcome.get()
                        }
                    }
                    return (outcome, commit)
                }
            } onCancel: {
                cancellation.cancel()
            }
            let ended = await commit?.outcome()
            try reporting { try ended?.get() }
            return try outcome.get()
        }
    }

    /// Runs `body` with the database when the blocks before it are done, in a transaction that cannot write: it sees one
    /// state of the database. Within a reading block of this queue it goes on with that one.
    ///
    /// - Throws: as `inDatabase(_:)`; ``DatabaseError`` with ``ResultCode/readOnly`` for a statement that writes.
    public func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if isInsideOfBlock, database.connection?.authorizer.isReader == true { return try body(database) }
        return try inDatabase(for: .read) { try $0.reading(body) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try await inDatabase(for: .read) { try $0.reading(body) }
    }

    /// Stops the statement that is running, which fails with ``ResultCode/interrupted``.
    public func interrupt() { interrupt(sparing: true) }

    /// - Parameter others: As of `Interrupter.interrupt(sparing:)`.
    func interrupt(sparing others: Bool) {
        guard owner.isCurrent else { return }
        interrupter.withLock { $0 }?.interrupt(sparing: others)
    }

    /// Closes the connection when the blocks before are done. Closing twice does nothing; other calls throw afterwards. In a child of
    /// the process that opened it nothing is closed.
    ///
    /// - Throws: ``DatabaseError`` when called from inside a block of this queue.
    public func close() throws {
        guard owner.isCurrent else { return }
        try close {}
    }

    /// Asynchronous version; does not block the calling thread.
    public func close() async throws {
        guard owner.isCurrent else { return }
        try await close {}
    }

    /// Closes, and then what belongs to it, all in the same turn; for which it waits however long that takes.
    func close(and others: () -> Void) throws {
        try checkIsOutside()
        turns.runWithoutLimit { closeNow(others) }
    }

    /// Asynchronous version.
    func close(and others: @Sendable () -> Void) async throws {
        try await turns.run(unless: nil) { [self] in closeNow(others) }
    }

    private func closeNow(_ others: () -> Void) {
        try? sharedCommits.commit()
        // A logger that uses the queue gets an error, instead of waiting for itself.
        database.closeInBlock()
        suspended = nil
        log.close()
        log.isSuspended.store(false, ordering: .releasing)
        interrupter.withLock { $0 = nil }
        latestKey.withLock { $0 = nil }
        others()
    }

    /// Another connection to the same file, which belongs to the caller: keyed with the key this queue derived when it
    /// opened, so without a second derivation, and verified all the same.
    ///
    /// - Throws: ``KeyError``, ``DatabaseError``, also for a database in memory, which has one connection only.
    public func openConnection() throws -> sending Database {
        try owner.check(.database)
        let verifiedKey = try inTurn {
            try runBlock { database in
                _ = try database.usableConnection()
                return database.verifiedKey
            }.outcome.get()
        }
        return try connect(verifiedKey, database.configuration)
    }

    /// A connection that cannot write, for a pool. It is opened beside a block that may be running.
    func openReader() throws -> sending Database {
        try owner.check(.database)
        guard let verifiedKey = latestKey.withLock({ $0 }) else {
            throw DatabaseError.closed
        }
        try checkIsActive()
        var configuration = database.configuration
        configuration.journalMode = nil
        let reader: Database
        do {
            reader = try connect(verifiedKey.key, configuration)
        } catch let error as DatabaseError where StorageFailure.concerns(error.code) {
            instruments.failed(error.code, error.message)
            throw error
        }
        try reader.usableConnection().becomeReader()
        return reader
    }

    private func connect(_ verifiedKey: VerifiedKey?, _ configuration: Configuration) throws -> sending Database {
        guard let path, !isInMemory else {
            throw DatabaseError(.misuse, "a database in memory has one connection only")
        }
        let connection = Database(path: path, configuration: configuration)
        if !flags.contains(.uri) { connection.place = filename }
        try connection.open(flags: flags.subtracting(.create))
        if let verifiedKey { try connection.unlock(verifiedKey) }
        return connection
    }

    /// A block may have closed and opened the database: never is it used without the key that the queue had.
    private func checkKey() throws {
        let hadKey = latestKey.withLock { $0?.key != nil }
        guard hadKey, database.isOpen, database.verifiedKey == nil else { return }
        database.close()
        throw DatabaseError(.misuse, "the block opened the queue's database without its key; the queue is closed now")
    }

    /// Runs a block on the queue, and sees that it leaves nothing open but a transaction that it shares.
    ///
    /// - Returns: What came of it, and the commit that it has to wait for: of its own changes, or of those that it has seen.
    private func runBlock<Result>(
        isShared: Bool = false,
        _ body: (Database) throws -> Result
    ) throws -> (outcome: Swift.Result<Result, any Error>, commit: SharedCommit?) {
        try database.turn.begin()
        defer {
            // The block closed it, or a change of key that failed: nobody waits for a commit of it.
            if !database.isOpen, suspended == nil { log.close() }
            database.turn.end()
        }
        try endSuspension()
        guard database.isOpen else { throw DatabaseError.closed }
        // Those that wait for it learn how it went.
        if !isShared { try? sharedCommits.commit() }
        let outcome = Swift.Result {
            try database.connection?.checkFile()
            let result = Swift.Result { try body(database) }
            try checkKey()
            database.closeOpenResultSets()
            // Of one that was made past this library's statements.
            database.connection?.reportCommit()
            let late = Swift.Result { try database.throwDeferredError(database.connection) }
            let isOpen = database.isInTransaction && !sharedCommits.isOpen
            if isOpen { try database.rollback() }
            let value = try result.get()
            try late.get()
            guard isOpen else { return value }
            throw DatabaseError(.misuse, "the block left a transaction open, which was rolled back; use inTransaction")
        }
        var failure: (any Error)?
        if case .failure(let error) = outcome { failure = error }
        return (outcome, sharedCommits.blockEnded(failure))
    }
}

extension DatabaseQueue: CommitSharing {
    func inSharedTransaction<Result: Sendable>(
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        try inDatabase(for: .write, isShared: true) { try $0.inSharedTransaction(sharedCommits, body) }
    }

    func inSharedTransaction<Result: Sendable>(
        _ body: @Sendable (Database, _ rollback: inout Bool) throws -> Result
    ) async throws -> Result {
        try await inDatabase(for: .write, isShared: true) { try $0.inSharedTransaction(sharedCommits, body) }
    }
}

extension DatabaseQueue {
    /// Opens the file with its key and verifies it. A passphrase is derived here, once for this queue.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key.
    ///   - key: The key, or the keyring that holds it; none only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: How every connection is opened.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: as ``Database/open(key:flags:)``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: some KeyProvider = ProvidedKey.none,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        self.init(try OpenedDatabase(path, key, configuration, flags), flags: flags)
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
        self.init(
            try await SerialWorker.once { try OpenedDatabase(path, key, configuration, flags) },
            flags: flags
        )
    }
}

/// A database that was opened for a queue, and whose commits are told.
struct OpenedDatabase {
    let database: Database
    let log = ChangeLog()

    /// Whatever of it waits for the file is done here, so that a task can do it on a thread that may block.
    fileprivate init(
        _ path: String?,
        _ key: some KeyProvider,
        _ configuration: Configuration,
        _ flags: OpenFlags
    ) throws {
        database = Database(path: path, configuration: configuration)
        try database.open(key: key, flags: flags)
        database.track(log)
    }
}
