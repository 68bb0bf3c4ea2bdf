internal import CSQLCipher
internal import CipherKeys

/// One `sqlite3` handle: the thin wrapper over the engine's C interface, and the one place where a return code becomes
/// an error.
final class Connection {
    let handle: OpaquePointer
    /// The database file's full path, links resolved: the journal and the write-ahead log stand beside it.
    let filename: String
    private(set) var interrupter = Interrupter()
    /// What statements may do.
    let authorizer = Authorizer()
    /// Every statement that is not finalised, so that closing can do it. None is kept alive by this: each is taken out before it is
    /// gone, by its `deinit`. Weak references would make each use of a statement count references the slow way.
    private var statements: [OpaquePointer: Unmanaged<PreparedStatement>] = [:]
    /// Handles of blobs, closed with the connection.
    private var blobs: [OpaquePointer: WeakBlob] = [:]
    private(set) var isClosed = false
    /// How many statements began an execution and did not end it.
    var activeStatements = 0
    /// How dates are read and bound; nil for a number of seconds.
    var dateFormat: DateFormat?
    /// The callbacks' closures, kept as long as the handle.
    var hooks: Hooks?
    /// What notes the tables that are changed; nil where nobody asks.
    // One thread at a time uses a connection, and it is set while no statement runs.
    @exclusivity(unchecked) var tracker: ChangeTracker?
    /// The task that uses the connection now, where one does.
    var turn: Turn?
    /// As long as the handle; the engine keeps their addresses.
    var tokenizers: [FTS4Module] = []
    /// What a function written in Swift threw, for the statement that called it to throw.
    var callbackError: (any Error)?
    /// How many closures the engine is calling now, one inside of the other.
    private(set) var runningCallbacks = 0
    /// Set where one of them closed the database that called it.
    private(set) var closesAfterCallbacks = false
    /// Backups that this connection is a side of, ended when it closes.
    private var backups: [WeakBackup] = []
    /// Set while a backup writes to this connection's database: nothing else may use it.
    var isBackupTarget = false
    /// Why a commit failed that was due when a blob or a statement was given up.
    private var lateFailure: DatabaseError?
    /// Whether damaged pages are looked for: on a keyed connection whose pages are authenticated.
    var isWatched = false
    /// Whether a damaged page was read, after which the engine reads nothing more on this connection.
    var isSpoiled = false
    /// By the names of their schemas.
    var damageWatches: [String: DamageWatch] = [:]

    private struct WeakBackup {
        weak var backup: BackupHandle?
    }

    private struct WeakBlob {
        weak var blob: BlobHandle?
    }

    /// Opens `path`; throws what the engine says, without leaving a handle.
    ///
    /// - Parameter vfs: The name of the engine's interface to the file system; nil for its default.
    init(path: String, flags: OpenFlags, vfs: String? = nil) throws(DatabaseError) {
        var handle: OpaquePointer?
        // A Database is used by one thread at a time, so the engine's own mutex is left out.
        let code = sqlite3_open_v2(
            path.pathCharacters,
            &handle,
            flags.rawValue | SQLITE_OPEN_NOMUTEX,
            vfs
        )
        guard let handle, code == SQLITE_OK else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close(handle)
            throw DatabaseError(ResultCode(rawValue: code), "\(path): \(message)")
        }
        self.handle = handle
        let name = sqlite3_db_filename(handle, "main")
        filename = name.map { String(pathBytes: Platform.pathBytes($0)) } ?? ""
        sqlite3_extended_result_codes(handle, 1)
        installAuthorizer()
        interrupter.attach(handle)
    }

    deinit {
        close()
        leaveHooks()
    }

    /// Takes the place of a connection that was closed, for those who stop its statements.
    func takeOver(_ former: Connection) {
        interrupter = former.interrupter
        interrupter.attach(handle)
        watch(former.turn)
    }

    /// From here on statements only read, and cannot change that.
    func becomeReader() throws(DatabaseError) {
        try execute("PRAGMA query_only = ON")
        authorizer.isReader = true
    }

    /// Finalises every statement and closes the handle.
    func close() {
        guard !isClosed else { return }
        // The statement that called is still running: its end closes.
        guard runningCallbacks == 0 else {
            closesAfterCallbacks = true
            return
        }
        interrupter.detach()
        for entry in backups { entry.backup?.end() }
        for entry in blobs.values { entry.blob?.close() }
        for statement in statements.values { statement.takeUnretainedValue().finalize() }
        statements.removeAll()
        for watch in damageWatches.values { watch.close() }
        sqlite3_close(handle)
        isClosed = true
    }

    /// Closing does not checkpoint the log. SQLite 3.15, in SQLCipher 3.4.1, cannot do that.
    func leaveLogOnClose() {
        _ = csqlcipher_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    /// Throws the handle's error for any code but OK.
    func check(_ code: Int32, sql: String? = nil) throws(DatabaseError) {
        guard code != SQLITE_OK else { return }
        throw error(code, sql: sql)
    }

    /// The error for `code`, with the handle's message where the handle has one for it.
    func error(_ code: Int32, sql: String? = nil) -> DatabaseError {
        if code & 0xff == SQLITE_AUTH {
            // The SQL may hold the key.
            return DatabaseError(
                .notAuthorized,
                "the statement was refused: by an authorizer of the program's, or because SQL may not set keys, the cipher or "
                    + "where temporary data go, attach files, load code, write the schema, use sqlite_dbpage, change the table "
                    + "cipherdb_keyring, call a function in a view or trigger that was made without isInnocuous, or make a reader of "
                    + "a pool write: use setKey, rekey, attach and Configuration, whose unsafeAllowsAllSQL allows all but the keys"
            )
        }
        let ofHandle = sqlite3_extended_errcode(handle)
        let message =
            ofHandle & 0xff == code & 0xff
            ? String(cString: sqlite3_errmsg(handle)) : String(cString: sqlite3_errstr(code))
        return DatabaseError(ResultCode(rawValue: ofHandle & 0xff == code & 0xff ? ofHandle : code), message, sql: sql)
    }

    // MARK: Keys

    /// Hands over the key. The engine copies it and does not look at the file.
    func key(_ literal: SecretBytes) throws(DatabaseError) {
        try check(literal.withUnsafeBytes { csqlcipher_key(handle, $0.baseAddress, Int32($0.count)) })
    }

    /// Re-encrypts the whole file. OK is answered also where nothing was done, and after a failure the handle would write
    /// pages that no key opens: close it whatever this returns.
    func rekey(_ literal: SecretBytes) -> DatabaseError? {
        let code = literal.withUnsafeBytes { csqlcipher_rekey(handle, $0.baseAddress, Int32($0.count)) }
        return code == SQLITE_OK ? nil : error(code)
    }

    /// Attaches a file; a key without bytes stands for plaintext.
    func attach(_ path: String, _ name: String, _ key: SecretBytes) throws {
        guard let (statement, _) = try prepare("ATTACH ? AS ? KEY ?") else { return }
        defer { statement.finalize() }
        try path.pathBytes.withUnsafeBytes { try statement.bind(utf8: $0, at: 1) }
        try statement.bind(name, at: 2)
        try key.withUnsafeBytes { key in
            try statement.bind(secret: key, at: 3)
            _ = try statement.step()
        }
    }

    // MARK: Statements

    /// Compiles the first statement of `sql` and returns it with what follows it; nil where there is none.
    func prepare(_ sql: String) throws(DatabaseError) -> (statement: PreparedStatement, rest: Substring)? {
        var text = sql
        let compiled = try text.withUTF8 { utf8 in
            Result { () throws(DatabaseError) in try prepare(utf8, sql) }
        }.get()
        guard let statement = compiled.statement else { return nil }
        return (statement, text[text.utf8.index(text.startIndex, offsetBy: compiled.count)...])
    }

    /// Compiles the statements of `sql` one after the other, each when `body` is done with the one before it.
    func forEachStatement(of sql: String, _ body: (PreparedStatement) throws -> Void) throws {
        var text = sql
        try text.withUTF8 { utf8 in
            var rest = utf8[...]
            while !rest.isEmpty {
                let part = UnsafeBufferPointer(rebasing: rest)
                let (statement, count) = try prepare(part, String(decoding: part.prefix(2000), as: UTF8.self))
                rest = rest.dropFirst(max(1, count))
                guard let statement else { continue }
                defer { statement.finalize() }
                try body(statement)
            }
        }
    }

    /// The first statement of `utf8`, nil where that is space or a comment, and how many bytes it has.
    ///
    /// - Parameter sql: What an error shows.
    private func prepare(
        _ utf8: UnsafeBufferPointer<UInt8>,
        _ sql: String
    ) throws(DatabaseError) -> (statement: PreparedStatement?, count: Int) {
        guard let length = Int32(exactly: utf8.count) else {
            throw DatabaseError(.tooBig, "the SQL has more than 2,147,483,647 bytes")
        }
        var statement: OpaquePointer?
        var count = 0
        // That of a statement that runs now, and calls a function which compiles this one.
        let outer = authorizer.takeAccess()
        let outerSQL = authorizer.sql
        authorizer.sql = sql
        defer {
            authorizer.sql = outerSQL
            authorizer.access = outer
            authorizer.hasAccess = !outer.isEmpty
        }
        let code = utf8.withMemoryRebound(to: CChar.self) { characters in
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(handle, characters.baseAddress, length, &statement, &tail)
            if let tail, let base = characters.baseAddress { count = tail - base }
            return code
        }
        guard code == SQLITE_OK else {
            let failure = error(code, sql: sql)
            throw hasMetDamage(failure.code) ? .damagedPage(sql) : failure
        }
        guard let statement else { return (nil, count) }
        let prepared = PreparedStatement(
            statement,
            sql: count == utf8.count ? sql : String(decoding: utf8[..<count], as: UTF8.self),
            accessing: authorizer.access,
            connection: self
        )
        statements[statement] = .passUnretained(prepared)
        return (prepared, count)
    }

    func forget(_ statement: OpaquePointer) {
        statements[statement] = nil
    }

    /// The statements that were stepped and neither finished nor reset.
    var hasRunningStatements: Bool {
        statements.values.contains { $0.takeUnretainedValue().isInUse } || !blobs.isEmpty
    }

    /// Ends every execution that began, so that none holds a lock; their result sets end. Open blobs are closed.
    func endActiveStatements() {
        if activeStatements > 0 {
            for statement in statements.values { statement.takeUnretainedValue().endIfActive() }
        }
        for entry in blobs.values { entry.blob?.close() }
    }

    func remember(_ blob: BlobHandle, _ handle: OpaquePointer) {
        blobs[handle] = WeakBlob(blob: blob)
    }

    func forget(blob handle: OpaquePointer) {
        blobs[handle] = nil
    }

    func remember(_ backup: BackupHandle) {
        backups.append(WeakBackup(backup: backup))
    }

    func forget(_ backup: BackupHandle) {
        backups.removeAll { $0.backup == nil || $0.backup === backup }
    }

    /// Why the handle cannot be given up at this moment, as a change of key does; nil where it can.
    var whyInUse: String? {
        if runningCallbacks > 0 { return "a function or hook is running; change it after the statement" }
        if !backups.isEmpty { return "a backup is running; end it first" }
        if isInTransaction { return "a transaction is open; end it first" }
        return hasRunningStatements ? "a result set is open; close it first" : nil
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
        return try body()
    }

    /// What a function written in Swift threw since the last call.
    func takeCallbackError() -> (any Error)? {
        defer { callbackError = nil }
        return callbackError
    }

    /// Runs statements that return nothing of interest.
    func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        try closeIfAsked(sql: sql)
        try check(code, sql: sql)
    }

    /// Closes, and throws, where a function or hook closed the database while the statement ran that called it.
    func closeIfAsked(sql: String) throws(DatabaseError) {
        guard closesAfterCallbacks, runningCallbacks == 0 else { return }
        close()
        throw DatabaseError(.misuse, "a function or hook closed the database that called it", sql: sql)
    }

    /// Keeps the error, unless there is one, for the next use of the connection to throw.
    func keepFailure(_ failure: DatabaseError) {
        lateFailure = lateFailure ?? failure
    }

    /// Why a commit failed that was due when a blob or a statement was given up; once.
    func takeLateFailure() -> DatabaseError? {
        defer { lateFailure = nil }
        return lateFailure
    }

    /// The first column of the first row, as text; nil where there is no row or it is NULL.
    func text(_ sql: String) throws -> String? {
        guard let (statement, _) = try prepare(sql) else { return nil }
        defer { statement.finalize() }
        return try statement.step() ? statement.value(0).text : nil
    }

    /// The names of the schemas: `main`, `temp` where it was used, and those of attached databases.
    func schemas() throws(DatabaseError) -> [String] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = "\(DamageWatch.mark) PRAGMA database_list"
        try check(unrestricted { sqlite3_prepare_v2(handle, sql, -1, &statement, nil) })
        var names: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            names.append(sqlite3_column_text(statement, 1).map { String(cString: $0) } ?? "")
        }
        return names
    }

    /// Whether it has attached databases or temporary tables, which another connection would not have.
    func hasMoreThanMain() throws -> Bool {
        try schemas().contains { $0 != "main" && $0 != "temp" } || text("SELECT name FROM sqlite_temp_master") != nil
    }

    // MARK: State

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }
    var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }
    var changes: Int { Int(sqlite3_changes(handle)) }
    /// How many rows were changed since it was opened.
    var totalChanges: Int32 { sqlite3_total_changes(handle) }

    func setBusyTimeout(milliseconds: Int) {
        sqlite3_busy_timeout(handle, Int32(clamping: milliseconds))
    }

    /// Copies the write-ahead log into the database; the counts are of its pages, -1 without a log.
    func checkpoint(_ mode: CheckpointMode, schema: String?) throws(DatabaseError) -> (log: Int32, copied: Int32) {
        var log: Int32 = -1
        var copied: Int32 = -1
        try check(sqlite3_wal_checkpoint_v2(handle, schema, mode.rawValue, &log, &copied))
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
