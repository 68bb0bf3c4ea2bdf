internal import CSQLCipher

/// Checks the pages that one statement reads for damage about which SQLCipher says nothing; see ``DamageWatch``.
///
/// Where the statement writes into one database what it reads in another, it has a transaction of its own, which is committed after the
/// check.
final class CorruptionGuard {
    private enum State {
        case off
        /// The pages are locked by the statement's writing, or by a transaction.
        case watching
        /// The pages stay locked until the end of the execution.
        case holding
    }

    private enum OwnTransaction {
        case none, open, failed
    }

    private let connection: Connection
    private let sql: String
    private let isReadOnly: Bool
    // For each `@exclusivity(unchecked)`: the ``Turn`` of the connection keeps other threads out, and no access lasts beyond a call that
    // could come back to it.
    /// What the statement reads and writes. Kept here, because handing it over with each step would copy it.
    @exclusivity(unchecked) var access: TableAccess {
        didSet { copiesBetweenSchemas = access.copiesBetweenSchemas }
    }
    @exclusivity(unchecked) private var copiesBetweenSchemas: Bool
    /// Of the schemas that the statement reads; empty until the first execution.
    @exclusivity(unchecked) private var watches: [DamageWatch] = [] {
        didSet {
            uncountedWatches = watches.map { .passUnretained($0) }
            hasCodecWatch = watches.contains { $0 is CodecWatch }
            quietSign = nil
        }
    }
    /// ``watches``, for each execution to tell without counting references. Safe because both are set together.
    @exclusivity(unchecked) private var uncountedWatches: [Unmanaged<DamageWatch>] = []
    /// Whether a sign of damage stays behind a commit.
    @exclusivity(unchecked) private(set) var hasCodecWatch = false
    @exclusivity(unchecked) private var state = State.off
    private var ownTransaction = OwnTransaction.none
    /// ``Connection/damageSign`` at the last check, where wrong MACs are not counted; nil asks for a check.
    @exclusivity(unchecked) private var sign: UInt64?
    /// ``Connection/damageSign`` at which no watch had seen anything, so that each row need not ask all of them.
    @exclusivity(unchecked) private var quietSign: UInt64?

    init(_ connection: Connection, sql: String, accessing access: TableAccess, isReadOnly: Bool) {
        self.access = access
        copiesBetweenSchemas = access.copiesBetweenSchemas
        self.connection = connection
        self.sql = sql
        self.isReadOnly = isReadOnly
    }

    /// Whether the end of the execution commits what it wrote.
    var commitsAtEnd: Bool { ownTransaction == .open }

    /// Whether the pages are watched and locked: ``willStep(isFirst:)`` has nothing to do.
    var isReady: Bool {
        switch state {
        case .off: false
        case .watching: !copiesBetweenSchemas && isLockedByOthers
        case .holding: true
        }
    }

    /// A statement that writes has a lock, and so has a transaction. But SQLite may release both before the statement is over.
    private var isLockedByOthers: Bool { !isReadOnly || connection.isInTransaction }

    /// - Parameter isFirst: Whether this step begins an execution.
    func willStep(isFirst: Bool) throws(DatabaseError) {
        try watch()
        if isFirst, !isReadOnly, copiesBetweenSchemas { try beginOwnTransaction() }
    }

    /// The statement reads more schemas than before: SQLite is to compile it again, because a schema changed, or a function of it ran
    /// others.
    ///
    /// - Parameter onRow: Whether it stands on a row of a query. Then its lock is still held, and what was read for the row is
    ///   checked, too.
    func readsMore(_ access: TableAccess, onRow: Bool) throws(DatabaseError) {
        endWatch()
        watches = []
        self.access = access
        guard onRow else { return }
        try watch()
        sign = nil
    }

    /// Whether a damaged page may have been read since the last check.
    @inline(__always) var mayHaveFailed: Bool {
        if connection.countsWrongMACs, Provider.wrongMACs == quietSign { return false }
        return mayHaveFailedSinceQuiet()
    }

    // Apart, so that each step is short.
    @inline(never) private func mayHaveFailedSinceQuiet() -> Bool {
        guard state != .off else { return false }
        let now = connection.damageSign
        for watch in watches where watch.mayHaveFailed(since: sign) { return true }
        quietSign = now
        return false
    }

    /// Throws if a page that was read is damaged.
    func check() throws(DatabaseError) {
        do throws(DatabaseError) {
            for watch in watches { try watch.check(sql, isWriting: !isReadOnly) }
            sign = connection.damageSign
        } catch {
            didFail()
            throw error
        }
    }

    /// Whether SQLite's error comes of a damaged page.
    func isDamage(_ code: ResultCode) -> Bool {
        guard state != .off, code.mayBeDamage else { return false }
        return watches.contains {
            do throws(DatabaseError) {
                try $0.check(isWriting: !isReadOnly)
                return false
            } catch {
                return error.code.primary == .corrupt
            }
        }
    }

    /// The execution failed: its own transaction is rolled back at the end.
    func didFail() {
        if ownTransaction == .open { ownTransaction = .failed }
    }

    /// After the statement was reset. An error of the commit is thrown by the next use of the connection.
    func end() {
        if ownTransaction != .none { endOwnTransaction() }
        endWatch()
    }

    private func watch() throws(DatabaseError) {
        if state == .off {
            // Others may be attached by now.
            if watches.isEmpty || access.readsAllSchemas {
                let schemas = access.readsAllSchemas ? try connection.schemas() : access.schemas
                var all: [DamageWatch] = []
                for schema in schemas where schema != "temp" { try all.append(connection.damageWatch(schema)) }
                watches = all
            }
            for place in uncountedWatches.indices { uncountedWatches[place]._withUnsafeGuaranteedRef { $0.begin() } }
            state = .watching
            sign = connection.damageSign
        }
        guard copiesBetweenSchemas || !isLockedByOthers else { return }
        for watch in watches { try watch.hold(sql) }
        state = .holding
    }

    private func endWatch() {
        guard state != .off else { return }
        state = .off
        for place in uncountedWatches.indices { uncountedWatches[place]._withUnsafeGuaranteedRef { $0.end() } }
    }

    private func beginOwnTransaction() throws(DatabaseError) {
        guard !connection.isInTransaction else { return }
        try connection.unrestricted { () throws(DatabaseError) in try connection.execute("\(DamageWatch.mark) BEGIN") }
        ownTransaction = .open
    }

    private func endOwnTransaction() {
        var isOpen = ownTransaction == .open
        ownTransaction = .none
        if isOpen {
            do throws(DatabaseError) {
                // Also of a statement that was left at a row.
                for watch in watches { try watch.check(sql, isWriting: true) }
                try connection.unrestricted { () throws(DatabaseError) in
                    try connection.execute("\(DamageWatch.mark) COMMIT")
                }
            } catch {
                connection.deferError(error)
                isOpen = false
            }
        }
        if !isOpen { connection.unrestricted { try? connection.execute("\(DamageWatch.mark) ROLLBACK") } }
        connection.reportCommit()
    }
}

/// Looking for damaged pages, in each database that the statement reads.
extension PreparedStatement {
    /// Before a step, where the pages that it reads are not watched yet.
    func watchPages(isFirst: Bool) throws {
        if uncountedGuard == nil { _ = guardOfPages() } else { isGuarded = true }
        do {
            try uncountedGuard?._withUnsafeGuaranteedRef { try $0.willStep(isFirst: isFirst) }
        } catch {
            reset()
            throw error
        }
    }

    private func guardOfPages() -> CorruptionGuard {
        isGuarded = true
        if let corruptionGuard { return corruptionGuard }
        let new = CorruptionGuard(connection, sql: sql, accessing: access, isReadOnly: isReadOnly)
        corruptionGuard = new
        return new
    }

    func checkPages() throws(DatabaseError) {
        guard let uncountedGuard, uncountedGuard._withUnsafeGuaranteedRef({ $0.mayHaveFailed }) else { return }
        do throws(DatabaseError) {
            try corruptionGuard?.check()
        } catch {
            reported?.failed(error.code)
            // An error of the reset is not reported beside this one.
            state = .ended
            reset()
            throw error
        }
    }

    /// SQLite compiled the statement again during the step, or a function or trigger ran others.
    func followAccess(_ next: AfterStep) throws(DatabaseError) {
        let found = connection.authorizer.takeAccess()
        // The schema that it copied into is gone.
        guard !found.isVacuum else {
            connection.tracker?.replaced()
            return
        }
        let before = access.schemas.count
        access.formUnion(found)
        // Also of a query whose function writes.
        connection.tracker?.willRun(access)
        guard connection.isWatched else { return }
        guard access.schemas.count > before else {
            corruptionGuard?.access = access
            return
        }
        // By a function that runs statements of its own.
        let onRow = if case .onRow = state, case .nothing = next { isReadOnly } else { false }
        do throws(DatabaseError) {
            try guardOfPages().readsMore(access, onRow: onRow)
        } catch {
            reset()
            throw error
        }
    }

    /// Whether SQLite, before it runs anything, compiles the statement again, and it then reads a database that is not watched for it.
    func isCompiledToReadMore(_ found: TableAccess) -> Bool {
        // Within a VACUUM, a function or a virtual table others are compiled.
        guard let handle, sqlite3_stmt_busy(handle) == 0, !found.isVacuum, !access.readsAllSchemas else { return false }
        return found.readsAllSchemas || found.schemas.contains { !access.schemas.contains($0) }
    }

    /// Whether the step was refused because of ``isCompiledToReadMore(_:)``: it is made again, with what it reads being watched.
    func followRefusal(_ handle: OpaquePointer) throws(DatabaseError) -> Bool {
        guard connection.authorizer.hasAccess, connection.authorizer.takeRefusedUnwatched() else { return false }
        _ = connection.working { sqlite3_reset(handle) }
        state = .idle
        access.formUnion(connection.authorizer.takeAccess())
        try guardOfPages().readsMore(access, onRow: false)
        return true
    }
}
