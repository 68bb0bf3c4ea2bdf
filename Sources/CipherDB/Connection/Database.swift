internal import CipherSystem
internal import SQLiteFormat

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One connection to a database: FMDB's `FMDatabase`.
///
/// It is opened, keyed once, and used by one thread or task at a time; it is not `Sendable`. To share a database, use a
/// ``DatabaseQueue``.
///
/// A call on a second thread during a call on a first one throws ``DatabaseError`` with ``ResultCode/misuse`` and does nothing; where it
/// cannot throw, it answers as for a closed database. So does each call of a database that a queue or pool passed to a block, outside of
/// the block or on another thread. In a child of the process that made it each call throws ``UsedAfterFork``.
///
/// ```swift
/// let database = Database(path: "vault.db")
/// try database.open()
/// try database.setKey("correct horse battery staple")
/// try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
/// ```
public final class Database {
    /// The path as it was given; nil for a database in memory, empty for a temporary one.
    public let path: String?
    /// Where a queue's or pool's file is, from the root: the program may have changed its working directory since. Nil for ``path``.
    var place: String?
    /// How it is opened.
    public let configuration: Configuration
    /// Who may use it now, with all that belongs to it.
    package let turn: Turn

    var state: State = .closed {
        didSet {
            connectionInUse = isInUse ? connection.map { .passUnretained($0) } : nil
            interrupting.withLock { [interrupter = connection?.interrupter] in $0 = interrupter }
        }
    }
    /// The connection of a database that is in use, for each statement to ask without counting references. Safe because both are set
    /// together.
    // The turn keeps other threads out, and a reference is read and written at once.
    @exclusivity(unchecked) private(set) var connectionInUse: Unmanaged<Connection>?
    /// Those of the last opening.
    var flags: OpenFlags = []
    /// Whether the last opening said that nobody changes the file, so that no locks are taken.
    var isImmutable = false
    // The turn keeps other threads out, and a statement that the cache finalises has ended: that calls no function.
    @exclusivity(unchecked) private(set) var cache: StatementCache
    /// The most statements that are kept compiled; begins as the configuration's.
    package var statementCacheCapacity: Int {
        get { inTurn(or: 0) { cache.capacity } }
        set { inTurn(or: ()) { cache.capacity = newValue } }
    }
    /// For every thread.
    private let interrupting = Lock<Interrupter?>(nil)
    /// Pages found damaged, so that the file is scanned for them once only.
    var knownDamage: [Int]?
    /// Where its key comes from.
    var keyOrigin = KeyOrigin.program
    /// What a file without bytes is keyed with when it is used before a key was given.
    package var keyOfNewFile: VerifiedKey?
    /// Whether the program got the handle of an unkeyed file, which it may have keyed by itself.
    var isHandleGiven = false
    private var savePoints = 0
    /// What the blocks around want done after the commit; nil outside of them.
    var actionsAfterCommit: [() -> Void]?
    /// What was made on this database in Swift, to be made again on each connection.
    var registrations: [Registration: (Connection) throws -> Void] = [:]
    /// What was set by ``setLimit(_:to:)``.
    var limits: [Limit: Int32] = [:]
    let hooks = Hooks()
    // Made when it is opened: the labels of one that is refused would stay.
    private(set) lazy var instruments = Instruments(path: path, configuration)
    var timeout: Duration
    /// How values are stored. It begins as the configuration's.
    private(set) var storage: ValueStorage {
        didSet { connection?.storage = storage }
    }
    /// Those of the blocks that use it; nil where it is not a queue's.
    var turns: TurnQueue?
    /// How dates are stored in columns. It begins as the configuration's.
    public var dateFormat: DateFormat {
        get { inTurn(or: configuration.storage.dates) { storage.dates } }
        set { inTurn(or: ()) { storage.dates = newValue } }
    }

    /// What a connection is between opening and closing.
    enum State {
        case closed
        /// Open; neither keyed nor used.
        case unkeyed(UnkeyedFile)
        /// In use, without a key: in plaintext, or under one that the program gave the engine by itself.
        case plain(Connection)
        /// In use, and verified under this key.
        case keyed(Connection, VerifiedKey)

        func close(_ instruments: Instruments) {
            switch self {
            case .closed: break
            case .unkeyed(let file): file.close()
            case .plain(let connection), .keyed(let connection, _):
                connection.close()
                instruments.closed()
            }
        }
    }

    /// A database that is not opened yet.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, empty for a temporary one, neither of which ever reaches the
    ///     disk.
    ///   - configuration: How it is opened.
    public convenience init(path: String?, configuration: Configuration = Configuration()) {
        self.init(path: path, configuration: configuration, turn: Turn())
    }

    /// - Parameter turn: Also that of others, which are used together with it.
    package init(path: String?, configuration: Configuration, turn: Turn) {
        self.turn = turn
        self.path = path == ":memory:" ? nil : path
        self.configuration = configuration
        cache = StatementCache(capacity: configuration.statementCacheCapacity)
        timeout = configuration.busyTimeout
        storage = configuration.storage
    }

    deinit {
        if let stay = turn.enterForEnd() {
            closeNow()
            turn.leave(stay)
        } else if !turn.isOfParent, let connection {
            // Another thread is in a call of a part of it: who has the turn next closes it, or the end of the part.
            connection.leftovers.keep { [state, instruments] in state.close(instruments) }
            guard let stay = turn.enterForEnd() else { return }
            connection.endLeftovers()
            turn.leave(stay)
        }
    }

    /// Whether it is open.
    public var isOpen: Bool { inTurn(or: false) { isNotClosed } }

    private var isNotClosed: Bool {
        if case .closed = state { false } else { true }
    }

    /// The cipher format of the file, once the key was verified; nil without encryption.
    public var cipherFormat: CipherFormat? { inTurn(or: nil) { verifiedKey?.format } }

    /// Whether the file cannot be written through this connection.
    public var isReadOnly: Bool {
        get throws { try inTurn { try usableConnection().isReadOnly } }
    }

    /// Whether the file that is open was removed, or its name given to another: what is written to it is lost.
    package var hasMoved: Bool { inTurn(or: false) { connection?.hasMoved ?? false } }

    /// Whether it is open on a file without bytes, and neither keyed nor used.
    package var hasNewFile: Bool { inTurn(or: false) { hasUnusedNewFile } }

    private var hasUnusedNewFile: Bool {
        if case .unkeyed(let file) = state { file.kind == .empty } else { false }
    }

    /// Closes the connection, ending its result sets and rolling back an open transaction. Closing twice does nothing.
    ///
    /// To use it again, open and key it again. A file that was made by opening it and never written to is removed. In a child of the
    /// process that opened it the file is left as it is.
    public func close() {
        guard let stay = turn.enterIfFree() else {
            // Nobody else is there after a fork, and the file is the parent's.
            if turn.isOfParent { state = .closed }
            return
        }
        defer { turn.leave(stay) }
        closeNow()
    }

    private func closeNow() {
        let closing = state
        // Before what ends with it is reported, to a logger that might use the database.
        state = .closed
        cache.removeAll()
        closing.close(instruments)
        knownDamage = nil
        keyOfNewFile = nil
        keyOrigin = .program
    }

    /// Stops the statement that is running, which fails with ``ResultCode/interrupted``; also from another thread.
    public func interrupt() {
        interrupter?.interrupt()
    }

    /// What stops this connection's statements from another thread; nil while it is closed.
    public var interrupter: Interrupter? {
        // In a child, a thread of the parent's may have the lock for ever.
        turn.isOfParent ? nil : interrupting.withLock { $0 }
    }

    /// Whether a transaction is open, by SQLite's own account.
    public var isInTransaction: Bool {
        inTurn(or: false) { connection.map { $0.isInTransaction && $0.sharing != .rolledBack } ?? false }
    }

    /// SQLite's own: the rowid of the row that was stored last, in whichever table. An insertion that stores nothing, or into a table without
    /// rowids, leaves it as it is; ``insert(into:_:)`` returns that of its own row.
    public var lastInsertRowID: Int64 { inTurn(or: 0) { connection?.lastInsertRowID ?? 0 } }

    /// Whether it is open, keyed where it must be, and a page of it can be read at this moment.
    public var goodConnection: Bool {
        guard let stay = turn.enterIfFree() else { return false }
        defer { turn.leave(stay) }
        // Looking must not begin the use of a file that a key is still to be given for.
        if hasNewFile { return configuration.allowsPlaintext }
        guard let connection = try? readyConnection() else { return false }
        return (try? connection.testSelect()) != nil
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed; not those that triggers changed, and 0 of a view.
    public var changes: Int { inTurn(or: 0) { connection?.changes ?? 0 } }

    /// Whether a result set or a blob is open.
    public var hasOpenResultSets: Bool {
        inTurn(or: false) { connection.map { $0.activeStatements > 0 || $0.openHandles.hasRunning } ?? false }
    }

    /// Ends all result sets and closes all blobs; reading from them then throws.
    public func closeOpenResultSets() {
        inTurn(or: ()) { connection?.endActiveStatements() }
    }

    /// Forgets the compiled statements that are not in use.
    public func clearCachedStatements() {
        inTurn(or: ()) { cache.removeAll() }
    }

    /// How often a compiled statement was there when it was wanted.
    public var statementCacheStatistics: StatementCacheStatistics {
        inTurn(or: StatementCacheStatistics()) { cache.statistics }
    }

    /// Hands the engine's `sqlite3` handle to `body`, for what this library does not have.
    ///
    /// The handle is this database's: do not close it, key it, nor keep it.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` where the database is not open, ``KeyError``.
    public func withUnsafeHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try inTurn {
            let connection = try usableConnection()
            return try connection.holding {
                let changes = connection.totalChanges
                defer {
                    if connection.totalChanges != changes { connection.tracker?.changedUnknown() }
                    // It may attach a file.
                    try? connection.guardCheckpoints()
                }
                return try body(connection.handle)
            }
        }
    }

    /// The engine's handle, also of a database that is not used yet: programs of FMDB's key it by themselves. Nil where it is closed.
    package var handleForProgram: OpaquePointer? {
        guard case .unkeyed(let file) = state else { return connection?.handle }
        isHandleGiven = true
        return file.connection.handle
    }

    // MARK: For the other files of this type

    /// Runs `body` for a task, whose cancellation ends its statements.
    func watched<Result>(by cancellation: TaskCancellation, _ body: (Database) throws -> Result) throws -> Result {
        connection?.progress.cancellation = cancellation
        // Of the connection there is then: a change of key makes another.
        defer { connection?.progress.cancellation = nil }
        return try body(self)
    }

    /// Runs `body`, which takes as long as the file is large: blocks that wait for their turn wait for it without a limit.
    func takingLong<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let turns else { return try body() }
        return try turns.withoutLimit(body)
    }

    /// Whether it is open, and keyed where it must be.
    private var isInUse: Bool {
        switch state {
        case .closed, .unkeyed: false
        case .plain, .keyed: true
        }
    }

    var connection: Connection? {
        switch state {
        case .closed: nil
        case .unkeyed(let file): file.connection
        case .plain(let connection), .keyed(let connection, _): connection
        }
    }

    package var verifiedKey: VerifiedKey? {
        if case .keyed(_, let verifiedKey) = state { verifiedKey } else { nil }
    }

    @usableFromInline func giveBack(_ statement: Statement) {
        statement.database = nil
        cache.checkIn(statement)
    }

    func takeCached(_ sql: SQLText) -> Statement? {
        let statement = cache.checkOut(sql)
        instruments.lookedUp(found: statement != nil)
        statement?.database = self
        return statement
    }

    /// A name for a savepoint that no other open one has.
    func nextSavePointName() -> String {
        savePoints += 1
        return "cipherdb_\(savePoints)"
    }
}

/// One thread or task at a time uses a connection, and a queue shares it.
@available(
    *,
    unavailable,
    message: "a Database is for one thread or task at a time; share a DatabaseQueue or DatabasePool"
)
extension Database: Sendable {}

/// Each call of a program asks whose turn it is before it touches anything else of the database.
extension Database {
    /// Runs `body` as one call.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/misuse`` where the calling thread must not use the database;
    ///   ``UsedAfterFork``.
    @inline(__always) package func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        return try body()
    }

    /// Runs `body` as one call; `refused`, and nothing happens, where the calling thread must not use the database.
    @inline(__always) package func inTurn<Result>(or refused: Result, _ body: () throws -> Result) rethrows -> Result {
        guard let stay = turn.enterIfFree() else { return refused }
        defer { turn.leave(stay) }
        return try body()
    }

    @usableFromInline func enter() throws -> Turn.Stay { try turn.enter() }
    @usableFromInline func leave(_ stay: Turn.Stay) { turn.leave(stay) }

    /// Closes it for the queue or pool that has it.
    package func closeInBlock() {
        let hasTurn = (try? turn.begin()) != nil
        defer { if hasTurn { turn.end() } }
        close()
    }
}
