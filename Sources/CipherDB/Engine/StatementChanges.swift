/// Reports what one statement changes to the connection's ``ChangeTracker``, if it has one.
struct StatementChanges {
    /// The transaction in which the statement was reported last: once in each is enough.
    private var transaction = 0

    mutating func willStep(_ access: TableAccess, _ tracker: ChangeTracker) {
        guard transaction != tracker.transaction else { return }
        transaction = tracker.transaction
        tracker.willRun(access)
    }

    /// The step committed, or the execution is over without a commit.
    func didStep(of connection: Connection, isOver: Bool, isReadOnly: Bool) {
        guard let tracker = connection.tracker else { return }
        if tracker.isCommitting {
            connection.reportCommit()
        } else if isOver, !isReadOnly, connection.runningCallbacks == 0, !connection.isInTransaction {
            tracker.endedWithoutCommit(changes: connection.totalChanges)
        }
    }
}
