internal import CSQLCipher
internal import CipherKeys
internal import CipherPages
internal import CipherSystem

/// One `sqlite3` handle: the thin wrapper over the engine's C interface, and the one place where a return code becomes
/// an error.
final class Connection {
    /// Who may use it now.
    let turn: Turn
    let handle: OpaquePointer
    /// Around each call of the engine that may read or write a page, or have to do with a key.
    let working: EngineWork
    /// The database file's full path, links resolved: the journal and the write-ahead log stand beside it.
    let filename: String
    /// The files that it has open: its own, and those that are attached.
    var openFiles: [OpenFile] = []
    /// The schemas that were attached; some may have been detached since.
    var attached: Set<String> = []
    var interrupter: Interrupter { progress.interrupter }
    /// What statements may do.
    let authorizer = Authorizer()
    /// What ends with it.
    var openHandles = OpenHandles()
    /// What the program let go of while another thread had its turn.
    let leftovers = Leftovers()
    private enum Life {
        case open
        /// A closure of the program closed it, during which the engine or the program has the handle.
        case closing
        /// Nothing of it runs or has a lock, and its handle is closed with it: a call of the library may have it still.
        case ended
        case closed
    }

    // Asked by each step; see ``instruments``.
    @exclusivity(unchecked) private var life = Life.open
    var isClosed: Bool { life == .ended || life == .closed }
    var isClosing: Bool { life == .closing }
    /// How many statements began an execution and did not end it.
    var activeStatements = 0
    /// How values are read and bound.
    var storage = ValueStorage()
    /// What the busy handler asks, kept as long as it may be asked.
    private var lockWaiting: LockWaiting?
    /// Whether it was opened for reading only.
    private let isForReading: Bool
    /// The callbacks' closures, kept as long as the handle.
    var hooks: Hooks?
    /// Where it reports its statements; nil until it is keyed.
    // For each `@exclusivity(unchecked)`, what each step looks at: the ``Turn`` keeps other threads out, and it is read and written at once.
    @exclusivity(unchecked) var instruments: Instruments?
    /// What notes the tables that are changed; nil where nobody asks.
    // It is set while no statement runs.
    @exclusivity(unchecked) var tracker: ChangeTracker?
    /// What ends its statements.
    let progress = StatementProgress()
    /// As long as the handle; the engine keeps their addresses.
    var tokenizers: [FTS4Module] = []
    /// What a function written in Swift threw, for the statement that called it to throw.
    var callbackError: (any Error)?
    /// How many closures the engine is calling now, one inside of the other.
    private(set) var runningCallbacks = 0
    /// How many closures of the program use the handle.
    @exclusivity(unchecked) var holds = 0
    private var isIdle: Bool { runningCallbacks == 0 && holds == 0 && !openHandles.hasTaken }
    /// Whether a statement outside of a transaction is refused: set in blocks that have one.
    @exclusivity(unchecked) var requiresTransaction = false
    /// Whether the block that runs shares its transaction with others, which are over and wait for the commit.
    @exclusivity(unchecked) var sharing = Sharing.alone
    /// Whether a savepoint may be open in it that SQL began.
    @exclusivity(unchecked) var mayHaveSavePoint = false
    /// Set while a backup writes to this connection's database: nothing else may use it.
    var isBackupTarget = false
    /// The deferred error of a commit that was due when a blob or a statement was closed.
    private var deferredError: DatabaseError?
    /// Whether damaged pages are looked for: on a keyed connection whose pages are authenticated.
    @exclusivity(unchecked) var isWatched = false
    /// Whether a wrong MAC is counted (``Provider/wrongMACs``) when this connection reads the page.
    @exclusivity(unchecked) var countsWrongMACs = false
    /// The contexts that the engine has for the key of the main database; nil where it uses its own functions.
    weak var keptContexts: KeptContexts?
    /// Whether a damaged page was read, after which the engine reads nothing more on this connection.
    var isInvalidated = false
    /// By the names of their schemas.
    var damageWatches: [String: DamageWatch] = [:]

    /// A connection that reads a few pages, as most readers of many pools do, takes half the memory so.
    private static let takesSinglePages = csqlcipher_take_single_pages() == SQLITE_OK

    /// Opens `path`; throws what the engine says, without leaving a handle.
    ///
    /// - Parameters:
    ///   - vfs: The name of the engine's interface to the file system; nil for its default.
    ///   - turn: That of its database.
    init(path: String, flags: OpenFlags, vfs: String? = nil, turn: Turn = Turn()) throws(DatabaseError) {
        _ = Connection.takesSinglePages
        self.turn = turn
        isForReading = !flags.contains(.readWrite)
        var opened: OpaquePointer?
        let working = try EngineWork()
        // One thread at a time has its turn, so the engine's own mutex is left out.
        let code = working {
            sqlite3_open_v2(path.pathCharacters, &opened, flags.rawValue | SQLITE_OPEN_NOMUTEX, vfs)
        }
        guard let handle = opened, code == SQLITE_OK else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            working { _ = sqlite3_close(opened) }
            working.end()
            throw DatabaseError(ResultCode(rawValue: code), "\(path): \(message)")
        }
        self.handle = handle
        self.working = working
        working.interrupts(handle)
        filename = Connection.filename("main", handle) ?? ""
        if !filename.isEmpty, let file = OpenFile(filename) { openFiles = [file] }
        sqlite3_extended_result_codes(handle, 1)
        CheckpointGuard.install(on: handle, schema: "main")
        installAuthorizer()
        progress.install(on: handle)
        interrupter.attach(handle)
    }

    deinit {
        close()
        working.end()
        leaveHooks()
    }

    enum Sharing {
        case alone
        /// Its changes are undone by a savepoint.
        case shared
        /// It rolled back, or was interrupted: nothing of it runs any more, and its changes are undone when it returns.
        case rolledBack
    }

    /// Notes a statement about the transaction, and returns whether it is not to run, because the changes of others are in there.
    func absorbs(_ control: TransactionControl) -> Bool {
        if control == .savePoint { mayHaveSavePoint = true }
        guard control == .rollback, sharing == .shared else { return false }
        sharing = .rolledBack
        return true
    }

    /// Whether the transaction of the block that runs is over, in which alone it may run statements.
    @inline(__always) var hasLostTransaction: Bool {
        requiresTransaction && (!isInTransaction || sharing == .rolledBack)
    }

    /// Whether a foreign key refers to no row yet; a commit would fail.
    var hasUnresolvedForeignKeys: Bool {
        var (now, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &highest, 0)
        return now != 0
    }

    /// Runs `body`, which no interruption and no cancellation of a task stops: SQLite would undo what others wait to see committed.
    func uninterrupted<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let cancellation = progress.cancellation
        progress.cancellation = nil
        defer { progress.cancellation = cancellation }
        return try interrupter.undoing(body)
    }

    /// Runs a statement of a block that shares a transaction: an interruption or a cancellation undoes the block when it is over.
    func sparingOthers(_ step: () -> Int32) -> Int32 {
        let cancellation = progress.cancellation
        progress.cancellation = nil
        defer { progress.cancellation = cancellation }
        let (code, isInterrupted) = interrupter.sparing(step)
        guard isInterrupted, code == SQLITE_ROW || code == SQLITE_DONE else { return code }
        sharing = .rolledBack
        return SQLITE_INTERRUPT
    }

    /// Takes the place of a connection that was closed, for those who stop its statements.
    func takeOver(_ former: Connection) {
        progress.interrupter = former.interrupter
        interrupter.attach(handle)
        requiresTransaction = former.requiresTransaction
        progress.cancellation = former.progress.cancellation
    }

    /// From here on statements only read, and cannot change that.
    func becomeReader() throws(DatabaseError) {
        try execute("PRAGMA query_only = ON")
        authorizer.isReader = true
    }

    /// From here on statements may write again.
    func endReading() throws(DatabaseError) {
        authorizer.isReader = false
        try undo(by: "PRAGMA query_only = OFF")
    }

    /// Runs what undoes a change or a setting. No interruption meets it.
    func undo(by sql: String) throws(DatabaseError) {
        try interrupter.undoing { () throws(DatabaseError) in try execute(sql) }
    }

    /// Finalises every statement and closes the handle. In a child of the process that opened it the engine is not asked: it would
    /// write into the file of its parent.
    func close() {
        guard life != .closed else { return }
        guard !turn.isOfParent else { return life = .closed }
        if life == .open { life = .closing }
        endIfAsked()
        // A statement that called a closure is still running: its end ends all.
        guard life == .ended, isIdle else { return }
        working.detach()
        _ = working { sqlite3_close(handle) }
        life = .closed
        openFiles = []
        if progress.hasTakenMuch { Platform.giveMemoryBack() }
    }

    /// Ends everything but the handle, where it was closed and nothing has the handle now.
    func endIfAsked() {
        guard isClosing, isIdle else { return }
        life = .ended
        interrupter.detach()
        // A copy: each takes itself out.
        let open = openHandles
        open.closeAll()
        leftovers.end(forGood: true)
        for watch in damageWatches.values { watch.close(self) }
        endInterruption()
        if isInTransaction {
            _ = unrestricted { working { sqlite3_exec(handle, "\(DamageWatch.mark) ROLLBACK", nil, nil, nil) } }
        }
    }

    /// Ends an interruption that met no statement. It would stop a checkpoint, and so leave the log behind the last connection.
    private func endInterruption() {
        // A statement that begins ends it, where no other is active.
        guard interrupter.wasInterrupted else { return }
        _ = unrestricted { working { sqlite3_exec(handle, "\(DamageWatch.mark) SELECT 1", nil, nil, nil) } }
    }

    /// As `PRAGMA foreign_keys`, without compiling it.
    func setForeignKeys(_ areEnforced: Bool) throws(DatabaseError) {
        try check(csqlcipher_configure(handle, SQLITE_DBCONFIG_ENABLE_FKEY, areEnforced ? 1 : 0))
    }

    /// The full path of a schema's file, links resolved; nil where there is no such schema.
    private static func filename(_ schema: String, _ handle: OpaquePointer) -> String? {
        sqlite3_db_filename(handle, schema).map { String(pathBytes: Platform.pathBytes($0)) }
    }

    /// Closing does not checkpoint the log. SQLite 3.15, in SQLCipher 3.4.1, cannot do that.
    func leaveLogOnClose() {
        _ = csqlcipher_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    /// Throws the handle's error for any code but OK.
    func check(_ code: Int32, sql: String? = nil, isReported: Bool = true) throws(DatabaseError) {
        guard code != SQLITE_OK else { return }
        throw error(code, sql: sql, isReported: isReported)
    }

    /// The error for `code`, with the handle's message where the handle has one for it.
    ///
    /// - Parameter isReported: Whether a failure of the file is logged and counted: that of a call of the program, which gets the error.
    func error(_ code: Int32, sql: String? = nil, isReported: Bool = true) -> DatabaseError {
        // The SQL may hold the key. Of a function the engine says SQLITE_ERROR.
        if let refusal = authorizer.takeRefusal(), [SQLITE_AUTH, SQLITE_ERROR].contains(code & 0xff) {
            return DatabaseError(.notAuthorized, refusal.message)
        }
        if code & 0xff == SQLITE_AUTH { return DatabaseError(.notAuthorized, Refusal.unknown.message) }
        // A file that nobody may write is what the engine says.
        if code == SQLITE_READONLY, authorizer.isReader, !isReadOnly {
            return DatabaseError(.readOnly, "a block of read cannot change the database: use write", sql: sql)
        }
        let ofHandle = sqlite3_extended_errcode(handle)
        let isOfHandle = ofHandle & 0xff == code & 0xff
        let found = ResultCode(rawValue: isOfHandle ? ofHandle : code)
        if StorageFailure.concerns(found) {
            let system = isOfHandle ? Errno(code: sqlite3_system_errno(handle)) : nil
            return storageError(found, sql: sql, system: system?.code == 0 ? nil : system, isReported: isReported)
        }
        let message = DatabaseError.bounded(String(cString: isOfHandle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)))
        // It is what engines from SQLite 3.31 on find out by themselves.
        if message.hasPrefix("unsafe use of "), message.hasSuffix("()") {
            return DatabaseError(.notAuthorized, Refusal.function(String(message.dropFirst(14).dropLast(2))).message)
        }
        return DatabaseError(found, message, sql: sql)
    }

    /// An error of the codes of ``StorageFailure``, with the path and the cause.
    ///
    /// - Parameters:
    ///   - message: Nil for the engine's words for the code; those for the call may quote a value.
    ///   - waited: How long a lock was waited for; nil where the busy handler knows.
    ///   - isReported: Whether it is logged and counted.
    func storageError(
        _ code: ResultCode,
        _ message: String? = nil,
        sql: String? = nil,
        waited: Duration? = nil,
        system: Errno? = nil,
        isReported: Bool = false
    ) -> DatabaseError {
        if code.primary == .busy, lockWaiting?.takeInterruption() == true {
            return DatabaseError(.interrupted, "interrupted", sql: sql)
        }
        let message = message ?? String(cString: sqlite3_errstr(code.rawValue))
        // The file may be one that the statement names, or there is none.
        guard !filename.isEmpty, sql.map(DatabaseError.mayHoldKey) != true else {
            if isReported { instruments?.failed(code, message) }
            return DatabaseError(code, message, sql: sql)
        }
        var failure = StorageFailure(
            code: code,
            path: filename,
            waited: code.primary == .busy ? waited ?? lockWaiting?.takeWaited() : nil,
            systemError: system,
            isForReading: isForReading
        )
        failure.chooseFile(among: attached.sorted().compactMap { Connection.filename($0, handle) })
        let text = failure.explaining(message)
        if isReported { instruments?.failed(code, text) }
        return DatabaseError(code, text, sql: sql)
    }

    /// Ends every execution that began, so that none holds a lock; their result sets end. Open blobs are closed.
    func endActiveStatements() {
        endLeftovers()
        let open = openHandles
        if activeStatements > 0 { open.endExecutions() }
        open.closeBlobs()
    }

    /// The handles that write and are open.
    var openWriters: Set<OpaquePointer> { activeStatements > 0 || openHandles.hasBlobs ? openHandles.writers : [] }

    /// Ends what writes and is open, but for those of a block around this one.
    func endWriters(of outer: Set<OpaquePointer>) {
        endLeftovers()
        let inner = openWriters.subtracting(outer)
        if !inner.isEmpty { openHandles.end(writers: inner) }
    }

    /// Ends every statement, also those of virtual tables.
    func endAllStatements() {
        endActiveStatements()
        var statement = sqlite3_next_stmt(handle, nil)
        while let present = statement {
            if sqlite3_stmt_busy(present) != 0 { _ = working { sqlite3_reset(present) } }
            statement = sqlite3_next_stmt(handle, present)
        }
    }

    /// Why the handle cannot be replaced now, as a change of key does; nil if it can.
    var whyInUse: String? {
        if runningCallbacks > 0 { return "a function or hook is running; change it after the statement" }
        if openHandles.hasBackups { return "a backup is running; end it first" }
        if isInTransaction { return "a transaction is open; end it first" }
        return openHandles.hasRunning ? "a result set is open; close it first" : nil
    }

    /// Calls a closure for the engine: closing waits until it has returned. Its statements are not the library's own, whatever
    /// statement called it.
    func inCallback<Result>(_ body: () throws -> Result) rethrows -> Result {
        let isSuspended = authorizer.isSuspended
        authorizer.isSuspended = false
        runningCallbacks += 1
        defer {
            runningCallbacks -= 1
            authorizer.isSuspended = isSuspended
        }
        return try Platform.calledByEngine(body)
    }

    /// What a function written in Swift threw since the last call.
    func takeCallbackError() -> (any Error)? {
        defer { callbackError = nil }
        return callbackError
    }

    /// Throws where a function or hook closed the database while a statement ran that has not come to its end.
    func throwIfAskedToClose(sql: String) throws(DatabaseError) {
        guard life != .open, runningCallbacks == 0 else { return }
        throw DatabaseError(.misuse, "a function or hook closed the database that called it", sql: sql)
    }

    /// Runs a closure of the program that has the handle: closing waits until it has returned.
    func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
        holds += 1
        defer {
            holds -= 1
            endIfAsked()
        }
        return try body()
    }

    /// Throws once it is closed, also for what the library does after a statement whose function closed it.
    func checkIsOpen() throws(DatabaseError) {
        if isClosed { throw DatabaseError(.misuse, "the database was closed") }
    }

    /// Keeps the error, unless there is one, for the next use of the connection to throw.
    func deferError(_ failure: DatabaseError) {
        deferredError = deferredError ?? failure
    }

    /// The deferred error of a commit that was due when a blob or a statement was closed; once.
    func takeDeferredError() -> DatabaseError? {
        guard hasDeferredError else { return nil }
        defer { deferredError = nil }
        return deferredError
    }

    var hasDeferredError: Bool { deferredError != nil }

    /// Whether a statement can be compiled, or taken from the cache, without further ado.
    var isQuiet: Bool {
        !isInvalidated && !isBackupTarget && !hasDeferredError && authorizer.recordedReads == nil && !leftovers.isAny
    }

    // MARK: State

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }
    var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }
    var changes: Int { Int(sqlite3_changes(handle)) }
    /// How many rows were changed since it was opened.
    var totalChanges: Int32 { sqlite3_total_changes(handle) }

    /// How long a statement waits for a lock: as long as its operation may wait in all, where there is one.
    ///
    /// - Parameter handler: Asked instead, where there is one; true tries again.
    func setBusyTimeout(milliseconds: Int, orAsking handler: ((_ attempts: Int) -> Bool)? = nil) {
        let handler = handler.map { handler in { [unowned self] attempts in inCallback { handler(attempts) } } }
        let waiting = LockWaiting(limit: .milliseconds(milliseconds), handler, progress)
        lockWaiting = waiting
        sqlite3_busy_handler(
            handle,
            { pointer, attempts in
                guard let pointer else { return 0 }
                let waiting = Unmanaged<LockWaiting>.fromOpaque(pointer).takeUnretainedValue()
                return waiting.mayTryAgain(after: Int(attempts)) ? 1 : 0
            },
            Unmanaged.passUnretained(waiting).toOpaque()
        )
    }

    /// Copies the write-ahead log into the database; the counts are of its pages, -1 without a log.
    ///
    /// - Parameter isReported: False for one of the library's own, which may try again.
    func checkpoint(
        _ mode: CheckpointMode,
        schema: String?,
        isReported: Bool = true
    ) throws(DatabaseError) -> (log: Int32, copied: Int32) {
        var log: Int32 = -1
        var copied: Int32 = -1
        try checkIsOpen()
        endInterruption()
        // No progress handler is asked meanwhile.
        if progress.cancellation?.isCancelled == true {
            throw DatabaseError(.interrupted, "interrupted")
        }
        try check(
            working { sqlite3_wal_checkpoint_v2(handle, schema, mode.rawValue, &log, &copied) },
            isReported: isReported
        )
        return (log, copied)
    }

    /// Sets a limit, unless it is below 0, and returns the one before.
    func limit(_ limit: Limit, _ value: Int32) -> Int32 {
        sqlite3_limit(handle, limit.rawValue, value)
    }

    /// Whether the engine knows a file system interface of this name.
    static func hasFileSystem(named name: String) -> Bool {
        sqlite3_vfs_find(name) != nil
    }
}
