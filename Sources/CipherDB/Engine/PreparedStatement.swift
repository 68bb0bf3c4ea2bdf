internal import CSQLCipher

/// One `sqlite3_stmt`: the only owner of it, so that it is finalised once and never used after.
@usableFromInline final class PreparedStatement {
    let sql: String
    private let connection: Connection
    /// What it reads and writes.
    // One thread at a time uses a statement, and it is added to by nothing that could come back to it.
    @exclusivity(unchecked) private var access: TableAccess
    /// The transaction in which that was noted last.
    private var notedTransaction = 0
    /// What watches their pages; empty until the first execution.
    private var watches: [DamageWatch] = []
    /// Whether that looks at this execution.
    private var isWatching = false
    /// Whether the pages stay locked until the end of this execution.
    private var isGuarded = false
    /// That of this execution alone, which is committed when its pages were looked at.
    private var ownTransaction = OwnTransaction.none
    /// ``Connection/cacheMisses`` when the pages were last looked at.
    private var misses: Int32 = 0
    let isReadOnly: Bool
    let parameterCount: Int
    /// Whether the SQL sets or gives a key.
    let mayHoldKey: Bool
    private(set) var handle: OpaquePointer?
    /// Whether it was stepped since it was reset.
    private var needsReset = false
    /// Whether values are bound.
    private var isBound = false
    // One thread at a time uses a statement, and the buffer calls nothing that could come back to it.
    @exclusivity(unchecked) private var buffer = BindingBuffer()
    /// Whether it was stepped and neither finished nor reset: then it may hold a lock.
    private(set) var isRunning = false
    /// Raised with each beginning and end, so that a result set of an earlier execution notices.
    // One thread at a time uses a statement, and an integer is read and written at once.
    @exclusivity(unchecked) @usableFromInline private(set) var execution = 0
    /// Whether an execution began and did not end.
    private var isActive = false
    /// Whether the engine runs it at this moment, and a function that it calls may want to end it.
    private var isStepping = false
    private var afterStep: AfterStep?

    private enum AfterStep {
        case end, finalize
    }

    private enum OwnTransaction {
        case none, open, toBeUndone
    }

    init(_ handle: OpaquePointer, sql: String, accessing access: TableAccess, connection: Connection) {
        self.handle = handle
        self.sql = sql
        self.connection = connection
        self.access = access
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
        parameterCount = Int(sqlite3_bind_parameter_count(handle))
        mayHoldKey = DatabaseError.mayHoldKey(sql)
    }

    deinit {
        finalize()
    }

    func finalize() {
        guard let handle else { return }
        guard !isStepping else { return afterStep = .finalize }
        reset()
        setActive(false)
        connection.forget(handle)
        sqlite3_finalize(handle)
        self.handle = nil
        execution += 1
        buffer.wipe()
        buffer.deallocate()
    }

    /// Begins an execution: new values can be bound, and an earlier result set ends.
    func begin() throws(DatabaseError) {
        _ = try live()
        guard !isStepping else { throw misuseWhileStepping }
        guard !connection.isBackupTarget else {
            throw DatabaseError(.busy, "a backup is writing over this database; wait for its end", sql: sql)
        }
        execution += 1
        reset()
        clearBindings()
        if let failure = connection.takeLateFailure() { throw failure }
        setActive(true)
    }

    /// Ends the execution: no lock held, no value kept.
    func end() {
        guard !isStepping else { return afterStep = afterStep ?? .end }
        execution += 1
        reset()
        clearBindings()
        setActive(false)
    }

    func endIfActive() {
        if isActive { end() }
    }

    private func setActive(_ active: Bool) {
        guard active != isActive else { return }
        isActive = active
        connection.activeStatements += active ? 1 : -1
    }

    var isFinalized: Bool { handle == nil }

    /// Whether it may hold a lock, or is being run.
    var isInUse: Bool { isRunning || isStepping }

    /// The handle, which is there until ``finalize()``.
    func live() throws(DatabaseError) -> OpaquePointer {
        guard let handle else {
            throw DatabaseError(.misuse, "the statement's database was closed", sql: sql)
        }
        return handle
    }

    /// Goes to the next row; false at the end. What is wrong is thrown once, and the statement is reset.
    ///
    /// - Throws: what a function written in Swift threw; else ``DatabaseError``.
    func step() throws -> Bool {
        let handle = try live()
        guard !isStepping else { throw misuseWhileStepping }
        if !needsReset, !(isReadOnly && access.reads), !connection.isInTransaction { try connection.checkFile() }
        if access.reads, !isGuarded, connection.isWatched { try watch() }
        if isWatching, !isReadOnly, !needsReset, access.copiesBetweenSchemas { try beginOwnTransaction() }
        needsReset = true
        isStepping = true
        if connection.authorizer.hasAccess { _ = connection.authorizer.takeAccess() }
        if !isReadOnly, let tracker = connection.tracker { noteWrites(tracker) }
        let code = sqlite3_step(handle)
        isStepping = false
        if connection.authorizer.hasAccess { try followAccess(code) }
        settle(isOver: code != SQLITE_ROW)
        isRunning = code == SQLITE_ROW
        if connection.closesAfterCallbacks { try connection.closeIfAsked(sql: sql) }
        if let wanted = afterStep {
            afterStep = nil
            if wanted == .end { end() } else { finalize() }
            throw DatabaseError(.misuse, "a function ended the statement that called it", sql: sql)
        }
        switch code {
        case SQLITE_ROW:
            if isWatching { try checkWatched() }
            return true
        case SQLITE_DONE:
            // What was written and committed keeps no lock; where it was read from the same database, the commit would have failed.
            if isWatching, isReadOnly || connection.isInTransaction { try checkWatched() }
            let commits = ownTransaction == .open
            reset()
            if commits, let failure = connection.takeLateFailure() { throw failure }
            return false
        default:
            var error = connection.error(code, sql: sql)
            if hasMetDamage(error.code) { error = .damagedPage(sql) }
            if ownTransaction == .open { ownTransaction = .toBeUndone }
            reset()
            if let thrown = connection.takeCallbackError() { throw thrown }
            // Messages of these may quote a value: json_extract and MATCH do, and VACUUM INTO names its file.
            guard [.error, .cannotOpen].contains(error.code.primary), parameterCount > 0 || access.readsRows else {
                throw error
            }
            throw DatabaseError(
                error.code,
                "the statement failed on one of its values; SQLite's message is not shown, as it may quote it",
                sql: sql
            )
        }
    }

    private var misuseWhileStepping: DatabaseError {
        DatabaseError(.misuse, "a function runs the statement that called it", sql: sql)
    }

    /// Back to before the first row; bound values stay.
    func reset() {
        if needsReset {
            needsReset = false
            let code = sqlite3_reset(handle)
            // Else the last step has told it.
            if isRunning { settle(isOver: true) }
            // After a row it is the failure of a commit, such as that of an INSERT … RETURNING that is left at its first row. Else
            // it repeats what the last step threw.
            if isRunning, code != SQLITE_OK {
                let failure = connection.takeCallbackError() as? DatabaseError ?? connection.error(code, sql: sql)
                connection.keepFailure(connection.hasMetDamage(failure.code) ? .damagedPage(sql) : failure)
            }
        }
        if ownTransaction != .none { endOwnTransaction() }
        if isWatching { endWatch() }
        isRunning = false
    }

    // MARK: Values

    /// Remembers that there are values, and throws where one could not be bound.
    func bound(_ code: Int32, of sql: String?) throws(DatabaseError) {
        isBound = true
        guard code != SQLITE_OK else { return }
        throw connection.error(code, sql: sql)
    }

    /// A copy of a value that stays as long as it is bound; nil where there is no room for it.
    func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        buffer.keep(value)
    }

    /// Forgets the bound values, which may be secret.
    func clearBindings() {
        guard isBound, let handle else { return }
        isBound = false
        sqlite3_clear_bindings(handle)
        buffer.wipe()
    }

    // MARK: Changes

    private func noteWrites(_ tracker: ChangeTracker) {
        guard notedTransaction != tracker.transaction else { return }
        notedTransaction = tracker.transaction
        tracker.willRun(access)
    }

    /// Tells of a commit that the last call made, and forgets what was written where there was none.
    private func settle(isOver: Bool) {
        guard let tracker = connection.tracker else { return }
        if tracker.isCommitting {
            connection.settleCommit()
        } else if isOver, !isReadOnly, connection.runningCallbacks == 0, !connection.isInTransaction {
            tracker.endedWithoutCommit(changes: connection.totalChanges)
        }
    }

    // MARK: Damage

    /// Begins to watch the pages that it reads, where it has not; and sees that they stay locked.
    private func watch() throws(DatabaseError) {
        do throws(DatabaseError) {
            if !isWatching {
                if watches.isEmpty {
                    var all: [DamageWatch] = []
                    let schemas = access.readsAllSchemas ? try connection.schemas() : access.schemas
                    for schema in schemas where schema != "temp" { try all.append(connection.damageWatch(schema)) }
                    watches = all
                }
                for watch in watches { watch.begin() }
                isWatching = true
                misses = connection.cacheMisses
            }
            // What writes has a lock of its own; and so has a transaction. But the engine may end both before the statement is over.
            guard access.copiesBetweenSchemas || (isReadOnly && !connection.isInTransaction) else { return }
            for watch in watches { try watch.hold(sql) }
            isGuarded = true
        } catch {
            reset()
            throw error
        }
    }

    /// Watches what the engine reads from now on: it compiled the statement again, because a schema changed. Where it stands on a row
    /// its lock is held still, so that what was read for that can be looked at, too.
    private func followAccess(_ code: Int32) throws(DatabaseError) {
        let found = connection.authorizer.takeAccess()
        // The schema that it copied into is gone.
        guard !found.isVacuum else {
            connection.tracker?.replaced()
            return
        }
        let before = access.schemas.count
        access.formUnion(found)
        if let tracker = connection.tracker {
            // Also of a query, whose function writes.
            tracker.willRun(access)
        }
        guard access.schemas.count > before else { return }
        if isWatching { endWatch() }
        watches = []
        guard connection.isWatched, isReadOnly, code == SQLITE_ROW, afterStep == nil else { return }
        try watch()
        misses = -1
    }

    /// Throws where a page that was read is damaged.
    private func checkWatched() throws(DatabaseError) {
        guard connection.cacheMisses != misses || watches.contains(where: \.mayHaveFailed) else { return }
        do throws(DatabaseError) {
            for watch in watches { try watch.check(sql, isWriting: !isReadOnly) }
            misses = connection.cacheMisses
        } catch {
            // What comes of its end is not told beside this.
            isRunning = false
            if ownTransaction == .open { ownTransaction = .toBeUndone }
            reset()
            throw error
        }
    }

    /// Where the statement writes into one database what it reads in another, its commit waits until those pages were looked at.
    private func beginOwnTransaction() throws(DatabaseError) {
        guard !connection.isInTransaction else { return }
        try connection.unrestricted { () throws(DatabaseError) in try connection.execute("\(DamageWatch.mark) BEGIN") }
        ownTransaction = .open
    }

    /// Commits it, or undoes it; what fails of that is thrown at the connection's next use.
    private func endOwnTransaction() {
        var isOpen = ownTransaction == .open
        ownTransaction = .none
        if isOpen {
            do throws(DatabaseError) {
                // Of a statement that is left at a row.
                for watch in watches { try watch.check(sql, isWriting: true) }
                try connection.unrestricted { () throws(DatabaseError) in
                    try connection.execute("\(DamageWatch.mark) COMMIT")
                }
            } catch {
                connection.keepFailure(error)
                isOpen = false
            }
        }
        if !isOpen { connection.unrestricted { try? connection.execute("\(DamageWatch.mark) ROLLBACK") } }
        connection.settleCommit()
    }

    /// Whether the engine's error comes of a damaged page.
    private func hasMetDamage(_ code: ResultCode) -> Bool {
        guard code.mayBeDamage, connection.isWatched else { return false }
        if isWatching {
            for watch in watches where (try? watch.check(isWriting: !isReadOnly)) == nil { return true }
        }
        return connection.hasMetDamage(code)
    }

    private func endWatch() {
        isWatching = false
        isGuarded = false
        for watch in watches { watch.end() }
    }

    // MARK: Shape

    var dateFormat: DateFormat? { connection.dateFormat }

    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    func columnName(_ column: Int) -> String {
        handle.flatMap { sqlite3_column_name($0, Int32(column)) }.map { String(cString: $0) } ?? ""
    }

    /// The name of parameter `index`, counted from 1, with its prefix; nil for `?`.
    func parameterName(_ index: Int) -> String? {
        handle.flatMap { sqlite3_bind_parameter_name($0, Int32(index)) }.map { String(cString: $0) }
    }
}
