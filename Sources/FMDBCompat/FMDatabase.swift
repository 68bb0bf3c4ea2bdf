public import CipherDB
internal import CipherSystem
public import Foundation

/// What FMDB calls with each row of ``FMDatabase/executeStatements(_:withResultBlock:)``: unless it answers 0 that ends it.
public typealias FMDBExecuteStatementsCallbackBlock = ([AnyHashable: Any]) -> Int32

/// FMDB's `FMDatabase`, with FMDB's ways of calling, over CipherDB's `Database`.
///
/// Functions answer with a Bool, and ``lastErrorMessage()`` and ``lastErrorCode()`` say what went wrong in the last of
/// them. As in FMDB a file that no key is given for is in plaintext. New code is better off with `Database`, which throws.
///
/// It may go from thread to thread, but only one at a time may use it; a second one is refused by error 21, and a line on standard error.
/// One that a queue or pool passes to a block is refused outside of the block and on another thread.
///
/// Members that a subclass may override stand here, because Swift overrides none of an extension.
open class FMDatabase {
    /// The path as it was given; nil for a database in memory, empty for a temporary one.
    public let databasePath: String?
    /// Whether errors are written to standard error: their code and message, never SQL or values.
    public var logsErrors: Bool {
        get { logs.load(ordering: .relaxed) }
        set { logs.store(newValue, ordering: .relaxed) }
    }
    /// Whether an error ends the program.
    public var crashOnErrors: Bool {
        get { inTurn(or: false) { settings.crashOnErrors } }
        set { inTurn(or: ()) { settings.crashOnErrors = newValue } }
    }
    /// Whether each statement is written to standard error, without its values.
    public var traceExecution: Bool {
        get { inTurn(or: false) { settings.traceExecution } }
        set {
            inTurn(or: ()) {
                settings.traceExecution = newValue
                installTrace()
            }
        }
    }
    /// For the queue or pool that owns the database; not read here.
    public var checkedOut: Bool {
        get { inTurn(or: false) { settings.checkedOut } }
        set { inTurn(or: ()) { settings.checkedOut = newValue } }
    }
    /// Whether compiled statements are kept: the hundred used last. On unless set, other than in FMDB.
    public var shouldCacheStatements: Bool {
        get { inTurn(or: true) { settings.cachesStatements } }
        set {
            inTurn(or: ()) {
                settings.cachesStatements = newValue
                database.statementCacheCapacity = newValue ? 100 : 0
            }
        }
    }

    private struct Settings {
        var crashOnErrors = false
        var traceExecution = false
        var checkedOut = false
        var cachesStatements = true
    }

    private var settings = Settings()
    /// For a thread that is refused, too.
    private let logs = Atomic(true)
    /// Who may use it now, with its ``database`` and its result sets.
    let turn = Turn()
    var database: Database {
        didSet { rememberInterrupter() }
    }
    /// For other threads; FMDB's programs call `interrupt` from them.
    let interrupter = Lock<Interrupter?>(nil)
    /// Set by the first `setKey`, whatever came of it: from then on nothing is read or written in plaintext.
    var requiresKey = false
    /// Shared with its result sets, which it does not keep and which do not keep it.
    let lastCall = LastCall()
    /// The formatter that dates are stored with.
    var dateFormatter: DateFormatter?
    /// Those of the last opening.
    var openFlags: OpenFlags = [.readWrite, .create]
    /// How the file is opened again by a queue: with the key that was verified last.
    var access: VerifiedKey?
    var preparedSets: [Weak] = []

    struct Weak {
        weak var set: FMResultSet?
    }

    final class LastCall {
        // The turn of the database keeps other threads out, and it is read and written at once.
        @exclusivity(unchecked) var failure: DatabaseError?
    }

    /// A database that is not opened yet.
    ///
    /// - Parameter path: The file; nil for a database in memory, empty for a temporary one.
    public init(path: String?) {
        databasePath = path
        database = Database(
            path: path,
            configuration: FMDatabase.configuration(vfs: nil, allowsPlaintext: true),
            turn: turn
        )
    }

    /// A database that is not opened yet, named by a file URL; nil for one in memory.
    public convenience init(url: URL?) {
        self.init(path: url?.decodedPath)
    }

    /// A database in memory.
    public convenience init() {
        self.init(path: nil)
    }

    /// The file as a URL; nil for a database in memory.
    public var databaseURL: URL? { databasePath.map { URL(fileURLWithPath: $0) } }

    /// Whether it is open.
    public var isOpen: Bool { inTurn(or: false) { database.isOpen } }

    /// Opens the file, for reading and writing, and makes it where it does not exist. Opening twice does nothing.
    @discardableResult open func open() -> Bool {
        openFile(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    }

    /// Opens the file with SQLite's flags.
    @discardableResult open func open(withFlags flags: Int32) -> Bool {
        open(withFlags: flags, vfs: nil)
    }

    /// Opens the file with SQLite's flags, and its interface to the file system of that name.
    @discardableResult open func open(withFlags flags: Int32, vfs: String?) -> Bool {
        openFile(flags, vfs)
    }

    /// Closes it, ending its result sets; functions made on it go too. Closing twice does nothing. True unless another thread uses it.
    @discardableResult open func close() -> Bool {
        guard let stay = turn.enterIfFree() else {
            // Nobody else is there after a fork.
            if turn.isOfParent { database.close() }
            return turn.isOfParent
        }
        defer { turn.leave(stay) }
        for entry in preparedSets { entry.set?.close() }
        preparedSets = []
        database.close()
        rememberInterrupter()
        // As in FMDB: a function that refers to its database would keep it for ever.
        database.forgetRegistrations()
        lastCall.failure = nil
        return true
    }

    /// Whether it is open, keyed where it must be, and a page can be read.
    public var goodConnection: Bool { inTurn(or: false) { database.goodConnection } }

    /// The engine's `sqlite3` handle, for what FMDB does not have either; nil where the database is closed.
    ///
    /// A database whose program keys this handle by itself, with `sqlite3_key`, is used as the engine has it: the key is not verified, SQL is
    /// not restricted, and no other connection can be made of it. Use ``setKey(_:)``.
    open var sqliteHandle: UnsafeMutableRawPointer? {
        guard let stay = turn.enterIfFree() else { return nil }
        defer { turn.leave(stay) }
        // Where a key was refused nothing may be written without one.
        guard !requiresKey || database.verifiedKey != nil else { return nil }
        return database.handleForProgram.map { UnsafeMutableRawPointer($0) }
    }

    /// The database of CipherDB, for what FMDB does not have, such as `attach(_:as:key:)`. It is the one that is open now: another is there
    /// after the next opening, and on a thread that must not use it a closed one.
    public var cipherDatabase: Database {
        guard let stay = turn.enterIfFree() else { return Database(path: nil) }
        defer { turn.leave(stay) }
        return database
    }

    /// The rowid of the last row inserted.
    public var lastInsertRowId: Int64 { inTurn(or: 0) { database.lastInsertRowID } }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    public var changes: Int32 { inTurn(or: 0) { Int32(clamping: database.changes) } }

    /// Stops the statement that runs; from any thread. True where the database is open.
    @discardableResult open func interrupt() -> Bool {
        // In a child, a thread of the parent's may have the lock for ever.
        guard !turn.isOfParent, let present = interrupter.withLock({ $0 }) else { return false }
        present.interrupt()
        return true
    }

    /// How long a statement waits for a lock, in seconds; 2 unless set.
    public var maxBusyRetryTimeInterval: TimeInterval {
        get { inTurn(or: 2) { Double(database.busyTimeout / .milliseconds(1)) / 1000 } }
        set {
            let seconds: Double = max(0, min(newValue, 2_000_000))
            inTurn(or: ()) { database.busyTimeout = .milliseconds(Int64(seconds * 1000)) }
        }
    }

    /// A limit by SQLite's number, set unless `value` is below 0; the one before, or -1 where the database is not open.
    @discardableResult open func limit(for type: Int32, value: Int32) -> Int32 {
        guard let limit = Limit(rawValue: type) else { return -1 }
        let before = answer { () -> Int in
            guard value >= 0 else { return try database.limit(limit) }
            return try database.setLimit(limit, to: Int(value))
        }
        return Int32(clamping: before ?? -1)
    }

    /// Whether SQLite was built for threads. Always: CipherDB needs it.
    public class func isSQLiteThreadSafe() -> Bool { true }

    /// The version of SQLite, such as `3.46.1`.
    public class func sqliteLibVersion() -> String { Engine.current.sqliteVersion }

    /// The version of FMDB whose surface this is.
    public class func fmdbUserVersion() -> String { "2.7.12" }

    // MARK: Keys

    /// Gives the key of a database that was opened and not used yet, and verifies it: false for a wrong one.
    ///
    /// After a failure the database is closed, and does not open without a key any more, so that nothing is written in
    /// plaintext by mistake; to try another key, open it again first. As in FMDB the key that is in force may be given once
    /// more, which costs a derivation where it is a passphrase.
    @discardableResult open func setKey(_ key: String) -> Bool {
        keyed(text: key)
    }

    /// As ``setKey(_:)``, from bytes.
    @discardableResult open func setKeyWith(_ keyData: Data) -> Bool {
        keyed(bytes: keyData)
    }

    /// Changes the key, and proves that the new one opens the file.
    @discardableResult open func rekey(_ key: String) -> Bool { rekeyed { try database.rekey(key) } }

    /// As ``rekey(_:)``, from bytes.
    @discardableResult open func rekey(with keyData: Data) -> Bool {
        rekeyed { try database.rekeyWithData(keyData) }
    }

    // MARK: Updates

    /// Runs a statement with an array of values, as many as it has parameters.
    @discardableResult
    open func executeUpdate(_ sql: String, withArgumentsIn arguments: [Any]) -> Bool {
        attempt { try database.executeUpdate(statement(sql), values: Arguments.list(arguments)) }
    }

    /// Runs a statement with an array of values, as many as it has parameters.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func executeUpdate(_ sql: String, values: [Any]?) throws {
        try rethrowing { try database.executeUpdate(statement(sql), values: Arguments.list(values)) }
    }

    /// Runs a statement with values for its named parameters. As in FMDB, names that it does not have do not matter.
    @discardableResult
    open func executeUpdate(_ sql: String, withParameterDictionary arguments: [AnyHashable: Any]) -> Bool {
        attempt { try database.executeUpdate(statement(sql), values: Arguments.dictionary(arguments)) }
    }

    /// Runs a statement whose values stand in it: `"INSERT INTO t VALUES (\(name))"`. They are bound.
    @discardableResult open func executeUpdate(withFormat format: FMFormat) -> Bool {
        executeUpdate(format.sql, withArgumentsIn: format.values)
    }

    /// Runs a statement with the values that follow, as FMDB's Swift additions had it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func executeUpdate(_ sql: String, _ values: Any...) throws {
        try executeUpdate(sql, values: values)
    }

    /// Runs any number of statements without parameters.
    @discardableResult open func executeStatements(_ sql: String) -> Bool {
        attempt { try database.executeStatements(statement(sql)) }
    }

    /// Runs any number of statements without parameters, and calls `block` with each row. Unless it returns 0 that ends it.
    ///
    /// As in FMDB every value is a String, or NSNull for NULL and for bytes that are no text.
    @discardableResult
    open func executeStatements(_ sql: String, withResultBlock block: FMDBExecuteStatementsCallbackBlock?) -> Bool {
        guard let block else { return executeStatements(sql) }
        return attempt {
            try database.executeStatements(statement(sql)) { row in
                let texts = Dictionary(uniqueKeysWithValues: row.map { (AnyHashable($0), FMDatabase.text($1)) })
                guard block(texts) == 0 else { throw DatabaseError(code: .aborted, message: "query aborted") }
            }
        }
    }

    // MARK: Queries

    /// Starts a query with an array of values, as many as it has parameters. Nil, and an error, where it cannot.
    @discardableResult open func executeQuery(_ sql: String, withArgumentsIn arguments: [Any]) -> FMResultSet? {
        answer {
            FMResultSet(try database.executeQuery(statement(sql), values: Arguments.list(arguments)), self, sql)
        }
    }

    /// Starts a query with an array of values, as many as it has parameters.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    @discardableResult open func executeQuery(_ sql: String, values: [Any]?) throws -> FMResultSet {
        try rethrowing {
            FMResultSet(try database.executeQuery(statement(sql), values: Arguments.list(values)), self, sql)
        }
    }

    /// Starts a query with values for its named parameters. As in FMDB, names that it does not have do not matter.
    @discardableResult open func executeQuery(_ sql: String, withParameterDictionary arguments: [AnyHashable: Any]?)
        -> FMResultSet?
    {
        answer {
            FMResultSet(
                try database.executeQuery(statement(sql), values: Arguments.dictionary(arguments)),
                self,
                sql
            )
        }
    }

    /// Starts a query whose values stand in it: `"SELECT a FROM t WHERE b = \(name)"`. They are bound.
    @discardableResult open func executeQuery(withFormat format: FMFormat) -> FMResultSet? {
        executeQuery(format.sql, withArgumentsIn: format.values)
    }

    /// Starts a query with the values that follow, as FMDB's Swift additions had it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    @discardableResult open func executeQuery(_ sql: String, _ values: Any...) throws -> FMResultSet {
        try executeQuery(sql, values: values)
    }

    /// Compiles a statement, for `FMResultSet.bind(with:)`. Where that fails, the set gives no rows.
    open func prepare(_ sql: String) -> FMResultSet {
        guard let stay = turn.enterIfFree() else {
            _ = attempt {}
            return FMResultSet()
        }
        defer { turn.leave(stay) }
        let set = FMResultSet(prepared: answer { try database.prepare(statement(sql)) }, self, sql)
        preparedSets = preparedSets.filter { $0.set != nil } + [Weak(set: set)]
        return set
    }

    // MARK: Result sets and statements

    /// Whether a result set is open.
    public var hasOpenResultSets: Bool {
        inTurn(or: false) {
            database.hasOpenResultSets || preparedSets.contains { $0.set?.isPreparedAndOpen == true }
        }
    }

    /// Ends all result sets.
    open func closeOpenResultSets() {
        guard let stay = turn.enterIfFree() else { return }
        defer { turn.leave(stay) }
        for entry in preparedSets { entry.set?.close() }
        preparedSets = []
        database.closeOpenResultSets()
    }

    /// Forgets the compiled statements that are not in use.
    open func clearCachedStatements() {
        inTurn(or: ()) { database.clearCachedStatements() }
    }

    // MARK: Transactions

    /// Begins an exclusive transaction, as FMDB does.
    @discardableResult open func beginTransaction() -> Bool { begin(.exclusive) }

    /// Begins a transaction that takes its locks when it needs them.
    @discardableResult open func beginDeferredTransaction() -> Bool { begin(.deferred) }

    /// Begins a transaction that takes the lock for writing.
    @discardableResult open func beginImmediateTransaction() -> Bool { begin(.immediate) }

    /// Begins a transaction that takes every lock.
    @discardableResult open func beginExclusiveTransaction() -> Bool { begin(.exclusive) }

    /// Makes the changes of the open transaction last.
    @discardableResult open func commit() -> Bool { attempt { try database.commit() } }

    /// Undoes the changes of the open transaction.
    @discardableResult open func rollback() -> Bool { attempt { try database.rollback() } }

    /// Whether a transaction is open, by SQLite's own account.
    public var isInTransaction: Bool { inTurn(or: false) { database.isInTransaction } }

    /// Begins a savepoint.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func startSavePoint(withName name: String) throws {
        try rethrowing { try database.startSavePoint(withName: name) }
    }

    /// Keeps what was done since the savepoint began, and ends it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func releaseSavePoint(withName name: String) throws {
        try rethrowing { try database.releaseSavePoint(withName: name) }
    }

    /// Undoes what was done since the savepoint began, and leaves it open.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func rollbackToSavePoint(withName name: String) throws {
        try rethrowing { try database.rollbackToSavePoint(withName: name) }
    }

    /// Runs `block` in a savepoint, whose changes are undone when it sets its argument. Returns what went wrong with it.
    @discardableResult open func inSavePoint(_ block: (UnsafeMutablePointer<ObjCBool>) -> Void) -> NSError? {
        do {
            try rethrowing {
                try database.inSavePoint { _, rollback in rollback = FMDatabase.asksForRollback(block) }
            }
            return nil
        } catch {
            return error as NSError
        }
    }

    /// Copies pages from the write-ahead log, and says how many are in it and how many of them are in the file by now.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func checkpoint(
        _ mode: FMDBCheckpointMode,
        name: String? = nil,
        logFrameCount: UnsafeMutablePointer<Int32>? = nil,
        checkpointCount: UnsafeMutablePointer<Int32>? = nil
    ) throws {
        try rethrowing {
            let counts = try database.checkpoint(CheckpointMode(rawValue: mode.rawValue) ?? .passive, name: name)
            logFrameCount?.pointee = Int32(clamping: counts.logFrameCount)
            checkpointCount?.pointee = Int32(clamping: counts.checkpointCount)
        }
    }

    // MARK: Errors

    /// What went wrong in the last call, or `not an error`.
    open func lastErrorMessage() -> String { lastFailure?.message ?? "not an error" }

    /// SQLite's code of what went wrong in the last call; 0 for nothing.
    open func lastErrorCode() -> Int32 { lastFailure?.code.primary.rawValue ?? 0 }

    /// SQLite's extended code of what went wrong in the last call; 0 for nothing.
    open func lastExtendedErrorCode() -> Int32 { lastFailure?.code.rawValue ?? 0 }

    /// Whether the last call failed.
    open func hadError() -> Bool { lastFailure != nil }

    /// What went wrong in the last call, in FMDB's domain.
    open func lastError() -> NSError { FMDatabase.error(lastFailure) }
}
