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
