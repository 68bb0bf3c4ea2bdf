internal import CSQLCipher
internal import CipherSystem

/// One `sqlite3_stmt`: the only owner of it, so that it is finalised once and never used after. Its connection keeps it until
/// ``finalize()``.
@usableFromInline final class PreparedStatement: RowSource {
    enum State {
        /// Before the first step.
        case idle
        /// Between the beginning of an execution and its first step: it is given its values.
        case binding
        /// A closure of the program that runs meanwhile may ask for its end.
        case taken(by: Taker, then: AfterStep)
        /// It may hold a lock.
        case onRow
        /// After the last step, or one that failed; to be reset.
        case ended

        var isTaken: Bool { if case .taken = self { true } else { false } }
        var isBinding: Bool { if case .binding = self { true } else { false } }
        /// Whether the next step is the first.
        var isBeforeFirst: Bool {
            switch self {
            case .idle, .binding: true
            case .taken, .onRow, .ended: false
            }
        }
    }

    enum Taker {
        /// SQLite runs it.
        case engine
        /// The program has the bytes of its row.
        case program
    }

    enum AfterStep {
        case nothing, end, finalize
    }

    let sql: String
    let isReadOnly: Bool
    @usableFromInline let parameterCount: Int
    /// Whether it writes, or may be followed by statements that do in the transaction that it begins.
    let mayBeginWriting: Bool
    /// Whether the SQL sets or gives a key.
    let mayHoldKey: Bool
    let connection: Connection
    /// That of the connection, which keeps it: counting it in each call would take longer than asking it.
    let uncountedTurn: Unmanaged<Turn>
    private(set) var handle: OpaquePointer?
    // For each `@exclusivity(unchecked)`: the ``Turn`` of the connection keeps other threads out, and no access lasts beyond a call that
    // could come back to it.
    @exclusivity(unchecked) var state = State.idle
    /// Whether an execution began by ``begin()``: such are counted, and end with their block.
    @exclusivity(unchecked) private var isBegun = false {
        didSet {
            if oldValue != isBegun { connection.activeStatements += isBegun ? 1 : -1 }
        }
    }
    /// Raised with each beginning and end, so that a result set of an earlier execution notices.
    @exclusivity(unchecked) @usableFromInline private(set) var execution = 0
    /// How many columns the row has that may be read; 0 where there is none.
    @exclusivity(unchecked) private(set) var rowWidth = 0
    /// What it reads and writes.
    @exclusivity(unchecked) var access: TableAccess
    @exclusivity(unchecked) var buffer = BindingBuffer()
    @exclusivity(unchecked) private var changes = StatementChanges()
    /// Nil until it reads a database whose pages are authenticated.
    @exclusivity(unchecked) var corruptionGuard: CorruptionGuard? {
        didSet { uncountedGuard = corruptionGuard.map { .passUnretained($0) } }
    }
    /// ``corruptionGuard``, for each step to ask without counting a reference. Safe because both are set together.
    @exclusivity(unchecked) private(set) var uncountedGuard: Unmanaged<CorruptionGuard>?
    /// Whether the guard has an execution to end: asking itself would count a reference.
    @exclusivity(unchecked) var isGuarded = false
    /// The execution that is reported, from its first step to its reset.
    @exclusivity(unchecked) var reported: StatementExecution?

    init(_ handle: OpaquePointer, sql: String, accessing access: TableAccess, connection: Connection) {
        self.handle = handle
        self.sql = sql
        self.connection = connection
        uncountedTurn = .passUnretained(connection.turn)
        self.access = access
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
        parameterCount = Int(sqlite3_bind_parameter_count(handle))
        // BEGIN and SAVEPOINT change nothing by themselves, and have no columns.
        mayBeginWriting = !isReadOnly || sqlite3_column_count(handle) == 0
        mayHoldKey = DatabaseError.mayHoldKey(sql)
    }

    func finalize() {
        guard let handle, !connection.turn.isOfParent else { return }
        if case .taken(let taker, _) = state { return state = .taken(by: taker, then: .finalize) }
        let ended = reported
        reported = nil
        reset()
        // A hook may have asked for the same.
        guard self.handle != nil else { return }
        isBegun = false
        connection.openHandles.remove(statement: handle)
        _ = connection.working { sqlite3_finalize(handle) }
        self.handle = nil
        execution += 1
        buffer.wipe()
        buffer.deallocate()
        reportEnd(of: ended)
    }

    /// Reports an execution that is over.
    private func reportEnd(of execution: StatementExecution?) {
        if let execution { connection.instruments?.ended(execution, of: self) }
    }

    /// Begins an execution: new values can be bound, and an earlier result set ends.
    func begin() throws(DatabaseError) {
        connection.endLeftovers()
        _ = try live()
        try checkIsFree()
        guard !state.isBinding else {
            throw DatabaseError(.misuse, "a value ran the statement that it is bound to", sql: sql)
        }
        guard !connection.isBackupTarget else {
            throw DatabaseError(.busy, "a backup is writing over this database; wait for its end", sql: sql)
        }
        execution += 1
        reset()
        clearBindings()
        if connection.hasDeferredError, let failure = connection.takeDeferredError() { throw failure }
        isBegun = true
        state = .binding
    }

    /// The values are bound.
    func endBinding() {
        if state.isBinding { state = .idle }
    }

    /// Ends the execution: no lock held, no value kept.
    func end() {
        // The engine would write into the file of the parent.
        guard !isOfParent else { return }
        if case .taken(let taker, let next) = state {
            if case .nothing = next { state = .taken(by: taker, then: .end) }
            return
        }
        execution += 1
        reset()
        clearBindings()
        isBegun = false
    }

    /// Ends the execution if one began; one that is given its values holds nothing yet.
    func endIfActive() {
        if isBegun, !state.isBinding { end() }
    }

    var isFinalized: Bool { handle == nil }

    /// Whether it may hold a lock, or is being run.
    var isInUse: Bool {
        switch state {
        case .taken, .onRow: true
        case .idle, .binding, .ended: false
        }
    }

    /// The handle, which is there until ``finalize()``.
    func live() throws(DatabaseError) -> OpaquePointer {
        guard let handle else {
            throw DatabaseError(.misuse, "the statement's database was closed", sql: sql)
        }
        return handle
    }

    /// Advances to the next row; returns false at the end. On error, throws and resets the statement.
    ///
    /// - Throws: what a function written in Swift threw; else ``DatabaseError``.
    func step() throws -> Bool {
        // A value that was bound, or a row's decoder, may have forked.
        guard !isOfParent else { throw UsedAfterFork.database }
        let handle = try live()
        try checkIsFree()
        if access.control != .none, connection.absorbs(access.control) { return false }
        var code: Int32
        rowWidth = 0
        repeat {
            try willStep()
            state = .taken(by: .engine, then: .nothing)
            code = stepOnce(handle)
        } while try followRefusal(handle)
        let next = try didStep(code)
        defer { follow(next) }
        switch code {
        case SQLITE_ROW:
            guard case .nothing = next else {
                throw DatabaseError(.misuse, "a function ended the statement that called it", sql: sql)
            }
            if connection.isClosing { try connection.throwIfAskedToClose(sql: sql) }
            try checkPages()
            showRow()
            return true
        case SQLITE_DONE:
            try didEnd()
            return false
        default: throw didFail(code)
        }
    }

    /// The last row is behind; what the execution wrote is committed, unless it is in a transaction.
    private func didEnd() throws(DatabaseError) {
        // A commit released the locks; the pager would have failed in it if this database had been read and was damaged. A codec
        // does not, if nothing was written, and keeps its sign.
        if isReadOnly || connection.isInTransaction || corruptionGuard?.hasCodecWatch == true { try checkPages() }
        let commits = !isReadOnly && corruptionGuard?.commitsAtEnd == true
        reset()
        if access.attaches { try connection.guardCheckpoints() }
        if commits, let failure = connection.takeDeferredError() { throw failure }
    }

    /// The row may be read from here on.
    @inline(__always) func showRow() { rowWidth = Int(sqlite3_data_count(handle)) }

    /// Nobody reads the row until ``showRow()``.
    func hideRow() { rowWidth = 0 }

    @inline(__always) private func stepOnce(_ handle: OpaquePointer) -> Int32 {
        guard mayBeginWriting, connection.sharing != .alone else { return stepNow(handle) }
        return connection.sparingOthers { stepNow(handle) }
    }

    @inline(__always) private func stepNow(_ handle: OpaquePointer) -> Int32 {
        guard connection.isWatched else { return connection.working { sqlite3_step(handle) } }
        let outer = connection.authorizer.stepping
        connection.authorizer.stepping = .passUnretained(self)
        defer { connection.authorizer.stepping = outer }
        return connection.working { sqlite3_step(handle) }
    }

    @inline(__always) private func willStep() throws {
        let isFirst = state.isBeforeFirst
        if isFirst, connection.hasLostTransaction {
            throw DatabaseError.transactionEnded
        }
        if isFirst, connection.runningCallbacks == 0 {
            connection.progress.begin(isOnly: connection.activeStatements <= 1)
        }
        if isFirst, mayBeginWriting, !connection.isInTransaction { try connection.checkFile() }
        if access.reads, connection.isWatched, uncountedGuard?._withUnsafeGuaranteedRef({ $0.isReady }) != true {
            try watchPages(isFirst: isFirst)
        }
        if connection.authorizer.hasAccess { _ = connection.authorizer.takeAccess() }
        if !isReadOnly, let tracker = connection.tracker, !changes.areReported(to: tracker) { tracker.willRun(access) }
        if isFirst, reported == nil { reported = connection.instruments?.began(self) }
    }

    /// - Returns: What a closure asked for that the engine called meanwhile.
    @inline(__always) private func didStep(_ code: Int32) throws -> AfterStep {
        let next: AfterStep = if case .taken(_, let next) = state { next } else { .nothing }
        state = code == SQLITE_ROW ? .onRow : .ended
        if connection.authorizer.hasAccess { try followAccess(next) }
        changes.didStep(of: connection, isOver: code != SQLITE_ROW, isReadOnly: isReadOnly)
        return next
    }

    /// Does what was asked for while the engine had the statement, or the program its row.
    @inline(__always) private func follow(_ next: AfterStep) {
        switch next {
        case .nothing: break
        case .end: end()
        case .finalize: finalize()
        }
        if connection.isClosing { connection.endIfAsked() }
    }

    /// Lends the bytes of the row: until ``endLoan()`` nothing steps, resets or finalises the statement.
    ///
    /// - Returns: Whether they were not lent before.
    @inline(__always) func lend() -> Bool {
        guard case .onRow = state else { return false }
        state = .taken(by: .program, then: .nothing)
        return true
    }

    @inline(__always) func endLoan() {
        guard case .taken(by: .program, let next) = state else { return }
        state = .onRow
        if next != .nothing || connection.isClosing { followLoan(next) }
    }

    // Apart, so that ending a loan is short.
    @inline(never) private func followLoan(_ next: AfterStep) {
        if !isOfParent { follow(next) }
    }

    /// Back to before the first row; bound values stay.
    func reset() {
        var next = AfterStep.nothing
        switch state {
        case .idle, .taken: break
        case .binding: state = .idle
        case .ended: (_, next) = resetNow()
        case .onRow:
            hideRow()
            let code: Int32
            (code, next) = resetNow()
            changes.didStep(of: connection, isOver: true, isReadOnly: isReadOnly)
            // That of a commit, such as that of an INSERT … RETURNING that is left at its first row.
            if code != SQLITE_OK {
                let failure = connection.takeCallbackError() as? DatabaseError ?? connection.error(code, sql: sql)
                reported?.failed(failure.code)
                connection.deferError(connection.hasMetDamage(failure.code) ? connection.damagedPage(sql) : failure)
            }
        }
        if isGuarded {
            isGuarded = false
            uncountedGuard?._withUnsafeGuaranteedRef { $0.end() }
        }
        if let reported, !state.isTaken {
            self.reported = nil
            reportEnd(of: reported)
        }
        follow(next)
    }

    /// - Returns: What a hook asked for that was told of it.
    private func resetNow() -> (code: Int32, next: AfterStep) {
        state = .taken(by: .engine, then: .nothing)
        let code = connection.working { sqlite3_reset(handle) }
        let next: AfterStep = if case .taken(_, let next) = state { next } else { .nothing }
        state = .idle
        return (code, next)
    }
}
