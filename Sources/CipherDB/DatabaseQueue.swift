public import CipherKeys
internal import Dispatch
internal import Synchronization

/// One connection that many threads and tasks share, one at a time, in the order they come: FMDB's `FMDatabaseQueue`.
///
/// ```swift
/// let queue = try DatabaseQueue(path: "vault.db", key: .passphrase("correct horse battery staple"))
/// try await queue.inTransaction { database in
///     try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
/// }
/// let count = try await queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM notes") }
/// ```
///
/// Calling a queue from inside one of its own blocks throws at once; use the database that the block was given.
public final class DatabaseQueue: Sendable {
    /// The path as it was given; nil for a database in memory.
    public let path: String?

    private let queue = DispatchQueue(label: "CipherDB.DatabaseQueue")
    /// Touched only by blocks that run on `queue`, which runs one at a time.
    nonisolated(unsafe) private let database: Database
    /// The thread that runs a block now, so that a block that calls the queue again is noticed.
    private let runner = Atomic<UInt>(0)
    private let interrupter: Lock<Interrupter?>
    /// What other connections are opened with; nil when the queue is closed.
    private let latestUnlocked: Lock<Access?>
    private let flags: OpenFlags
    /// What was committed here.
    let log = ChangeLog()
    /// Also one that a URI names; then another connection would be another database.
    private let isInMemory: Bool

    /// Opens the file with its key and verifies it. A passphrase is derived here, once for this queue.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key.
    ///   - key: The key; nil only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: How every connection is opened.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: ``KeyError``, ``DatabaseError``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let database = Database(path: path, configuration: configuration)
        try database.open(flags: flags)
        if let key {
            try database.setKey(key)
        } else {
            _ = try database.usableConnection()
        }
        self.init(opened: database, flags: flags)
    }

    /// Opens the file with the key that a keyring holds; see ``Database/open(keyring:unlockedBy:slot:flags:)``.
    ///
    /// - Throws: ``KeyringError``, ``KeyError``, ``DatabaseError``.
    public convenience init(
        path: String,
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let database = Database(path: path, configuration: configuration)
        try database.open(keyring: keyring, unlockedBy: secret, slot: slot, flags: flags)
        self.init(opened: database, flags: flags)
    }

    /// Opens the file with the key that an unlocked keyring holds; see ``Database/open(keyring:unlockedBy:slot:flags:)``.
    ///
    /// - Throws: ``KeyringError``, ``KeyError``, ``DatabaseError``.
    public convenience init(
        path: String,
        keyring: UnlockedKeyring,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let database = Database(path: path, configuration: configuration)
        try database.open(keyring: keyring, flags: flags)
        self.init(opened: database, flags: flags)
    }

    private init(opened database: sending Database, flags: OpenFlags) {
        path = database.path
        isInMemory = database.connection?.filename.isEmpty ?? true
        self.flags = flags
        self.database = database
        interrupter = Lock(database.interrupter)
        latestUnlocked = Lock(Access(key: database.unlocked))
        database.track(log)
    }

    deinit {
        log.close()
    }

    /// How the file is opened: with this key, or in plaintext.
    private struct Access: Sendable {
        let key: Unlocked?
    }

    /// Runs `body` with the database when the blocks before it are done, and waits for it.
    ///
    /// The block leaves nothing open: result sets are closed after it, and a transaction that it began and did not end is
    /// rolled back, which is an error.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/misuse`` when called from inside a block of this
    ///   queue, or after ``close()``.
    @discardableResult
    public func inDatabase<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try waitForTurn { try run(body) }
    }

    private func waitForTurn<Result>(_ body: () throws -> Result) throws -> Result {
        guard runner.load(ordering: .relaxed) != Platform.currentThread else {
            throw DatabaseError(
                .misuse,
                "a block of this queue called the queue again; use the database that the block was given"
            )
        }
        return try queue.sync(execute: body)
    }

    /// Runs `body` with the database when the blocks before it are done, without holding up a thread of the caller's.
    ///
    /// When the task is cancelled before `body` begins it does not begin; when it is cancelled later, the statement that
    /// runs is interrupted.
    ///
    /// - Throws: what `body` throws; `CancellationError`; ``DatabaseError`` after ``close()``.
    @discardableResult
    public func inDatabase<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await inTurn { database, _ in try body(database) }
    }

    /// As the async form of `inDatabase`; the turn tells `body` whether its task was cancelled.
    func inTurn<Result: Sendable>(
        _ body: @escaping @Sendable (Database, Turn) throws -> Result
    ) async throws -> Result {
        let turn = Turn()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { [self] in
                    let result = Swift.Result {
                        try turn.begin(interrupter.withLock { $0 })
                        defer { turn.end() }
                        return try run { try $0.watched(by: turn, body) }
                    }
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            turn.cancel()
        }
    }

    /// Stops the statement that is running, which fails with ``ResultCode/interrupted``.
    public func interrupt() {
        interrupter.withLock { $0 }?.interrupt()
    }

    /// Closes the connection when the blocks before are done. Later calls throw; nothing opens it again.
    ///
    /// - Throws: ``DatabaseError`` when called from inside a block of this queue.
    public func close() throws {
        try waitForTurn {
            guard database.isOpen else { throw DatabaseError(.misuse, "the queue is closed") }
            database.close()
            log.close()
            interrupter.withLock { $0 = nil }
            latestUnlocked.withLock { $0 = nil }
        }
    }

    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it
    /// wait, and go on with the new key.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    public func rekey(_ newKey: DatabaseKey) throws {
        try inDatabase { try rekey($0, newKey) }
    }

    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it
    /// wait, and go on with the new key. Once it began it cannot be cancelled.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    public func rekey(_ newKey: DatabaseKey) async throws {
        try await inDatabase { [self] in try rekey($0, newKey) }
    }

    /// Gives the database a new random key, as ``Database/rotateKey(of:)`` does, when the blocks before are done; those after
    /// it wait, and go on with the new key.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        try withDatabaseForRekey { try $0.rotateKey(of: keyring, $1) }
    }

    /// As the form that waits, without holding up a thread of the caller's. Once it began it cannot be cancelled.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``; `CancellationError` before it began.
    public func rotateKey(of keyring: UnlockedKeyring) async throws {
        try await withDatabaseForRekey { try $0.rotateKey(of: keyring, $1) }
    }

    /// Another connection to the same file, which belongs to the caller: keyed with the key this queue derived when it
    /// opened, so without a second derivation, and verified all the same.
    ///
    /// - Throws: ``KeyError``, ``DatabaseError``, also for a database in memory, which has one connection only.
    public func openConnection() throws -> sending Database {
        let unlocked = try inDatabase { database in
            _ = try database.usableConnection()
            return database.unlocked
        }
        return try connect(unlocked, database.configuration)
    }

    /// A connection that cannot write, for a pool. It is opened beside a block that may be running.
    func openReader() throws -> sending Database {
        guard let unlocked = latestUnlocked.withLock({ $0 }) else {
            throw DatabaseError(.misuse, "the pool is closed")
        }
        var configuration = database.configuration
        configuration.journalMode = nil
        let reader = try connect(unlocked.key, configuration)
        try reader.usableConnection().becomeReader()
        return reader
    }

    private func connect(_ unlocked: Unlocked?, _ configuration: Configuration) throws -> sending Database {
        guard let path, !isInMemory else {
            throw DatabaseError(.misuse, "a database in memory has one connection only")
        }
        let connection = Database(path: path, configuration: configuration)
        try connection.open(flags: flags.subtracting(.create))
        if let unlocked { try connection.unlock(.unlocked(unlocked)) }
        return connection
    }

    /// Calls `body` when the blocks before are done, with a function that changes the key.
    func withDatabaseForRekey(_ body: (Database, (DatabaseKey) throws -> Void) throws -> Void) throws {
        try inDatabase { database in try body(database) { try rekey(database, $0) } }
    }

    /// As the form that waits.
    func withDatabaseForRekey(
        _ body: @escaping @Sendable (Database, (DatabaseKey) throws -> Void) throws -> Void
    ) async throws {
        try await inDatabase { [self] database in try body(database) { try rekey(database, $0) } }
    }

    private func rekey(_ database: Database, _ newKey: DatabaseKey) throws {
        // Reopened whatever the outcome.
        defer {
            interrupter.withLock { $0 = database.interrupter }
            latestUnlocked.withLock { $0 = database.isOpen ? Access(key: database.unlocked) : nil }
        }
        try database.rekey(newKey)
    }

    /// A block may have closed and opened the database: never is it used without the key that the queue had.
    private func checkKey() throws {
        let hadKey = latestUnlocked.withLock { $0?.key != nil }
        guard hadKey, database.isOpen, database.unlocked == nil else { return }
        database.close()
        throw DatabaseError(.misuse, "the block opened the queue's database without its key; the queue is closed now")
    }

    /// Runs a block on the queue, and sees that it leaves nothing open.
    private func run<Result>(_ body: (Database) throws -> Result) throws -> Result {
        guard database.isOpen else { throw DatabaseError(.misuse, "the queue is closed") }
        try database.connection?.checkFile()
        runner.store(Platform.currentThread, ordering: .relaxed)
        defer {
            runner.store(0, ordering: .relaxed)
            // The block closed it, or a change of key that failed: nobody waits for a commit of it.
            if !database.isOpen { log.close() }
        }
        let result = Swift.Result { try body(database) }
        try checkKey()
        database.closeOpenResultSets()
        // Of one that was made past this library's statements.
        database.connection?.settleCommit()
        let late = Swift.Result { try database.throwLateFailure(database.connection) }
        let isOpen = database.isInTransaction
        if isOpen { try database.rollback() }
        let value = try result.get()
        try late.get()
        guard isOpen else { return value }
        throw DatabaseError(.misuse, "the block left a transaction open, which was rolled back; use inTransaction")
    }
}
