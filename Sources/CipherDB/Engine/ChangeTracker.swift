/// Which tables the transactions of a connection change, told to a log when they are committed.
final class ChangeTracker {
    let log: ChangeLog
    /// Tells the transactions apart, so that a statement that runs often is looked at once in each.
    // The ``Turn`` of the connection keeps other threads out, and an integer and a truth value are read and written at once.
    @exclusivity(unchecked) private(set) var transaction = 1
    private var tables: Set<TableName> = []
    private var changesSchema = false
    /// Whether rows may have been changed that the engine does not count.
    private var hasUncountableChanges = false
    /// How many transactions were rolled back.
    private(set) var rollbacks = 0
    /// Whether the last of them was of a commit that had begun, which the disk may have.
    private(set) var mayBeStored = false
    /// The same, until the statement that failed says so.
    private var isUntold = false
    /// How many rows were changed before the transaction.
    private var changesBefore: Int32 = 0
    /// Whether the engine began to commit, and it is not known yet how that ended.
    @exclusivity(unchecked) private(set) var isCommitting = false
    /// `PRAGMA data_version` of the connection when it was looked at last; nil when it was not.
    var lastDataVersion: Int64?

    init(log: ChangeLog) {
        self.log = log
    }

    /// The database is used by another connection from here on.
    func connected(changes: Int32) {
        clear()
        changesBefore = changes
        lastDataVersion = nil
    }

    /// A statement is about to run that writes this.
    func willRun(_ access: TableAccess) {
        tables.formUnion(access.writes)
        changesSchema = changesSchema || access.changesSchema
        hasUncountableChanges = hasUncountableChanges || access.deletes
    }

    /// Bytes of a blob are about to be written.
    func willWrite(_ table: TableName) {
        tables.insert(table)
        hasUncountableChanges = true
    }

    /// Rows were changed by statements of the program's own on the engine's handle: nobody knows which.
    func changedUnknown() {
        changesSchema = true
    }

    /// Something wrote over the database that says nothing of tables.
    func replaced() {
        log.publish([], changesSchema: true)
    }

    func willCommit() {
        isCommitting = true
    }

    func didRollBack() {
        rollbacks += 1
        mayBeStored = isCommitting
        isUntold = isCommitting
        clear()
    }

    /// Whether the statement that failed now was a commit that had begun.
    func takeMayBeStored() -> Bool {
        defer { isUntold = false }
        return isUntold
    }

    /// The call is over in which the engine began to commit. It begins when it has all locks: what fails after that it rolls back, and
    /// says so, while a commit that found a lock in its way can be tried again and has not begun.
    ///
    /// - Parameter changes: How many rows the connection changed so far.
    func reportCommit(changes: Int32) {
        isCommitting = false
        let hasChanges = changes != changesBefore || changesSchema || hasUncountableChanges
        changesBefore = changes
        let (tables, changesSchema) = (tables, changesSchema)
        clear()
        // Rows were changed past this library's statements, on the engine's handle: nobody knows which.
        if hasChanges { log.publish(tables, changesSchema: changesSchema || tables.isEmpty) }
    }

    /// A statement ended outside of any transaction, and nothing was committed: it changed nothing.
    func endedWithoutCommit(changes: Int32) {
        clear()
        changesBefore = changes
    }

    private func clear() {
        transaction += 1
        isCommitting = false
        tables = []
        changesSchema = false
        hasUncountableChanges = false
    }
}

/// Reports what one statement changes to the connection's ``ChangeTracker``, if it has one.
struct StatementChanges {
    /// The transaction in which the statement was reported last: once in each is enough.
    private var transaction = 0

    /// Whether the tracker knows what the statement writes, in the transaction there is now; from here on it does.
    mutating func areReported(to tracker: ChangeTracker) -> Bool {
        guard transaction != tracker.transaction else { return true }
        transaction = tracker.transaction
        return false
    }

    /// The step committed, or the execution is over without a commit.
    @inline(__always) func didStep(of connection: Connection, isOver: Bool, isReadOnly: Bool) {
        guard let tracker = connection.tracker else { return }
        if tracker.isCommitting {
            connection.reportCommit()
        } else if isOver, !isReadOnly, connection.runningCallbacks == 0, !connection.isInTransaction {
            tracker.endedWithoutCommit(changes: connection.totalChanges)
        }
    }
}
