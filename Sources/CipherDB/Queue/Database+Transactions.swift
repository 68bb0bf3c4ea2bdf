/// When a transaction takes its locks (sqlite.org/lang_transaction.html).
public enum TransactionKind: String, Sendable {
    /// At the first statement that needs them. A transaction that reads first and writes later may then find the
    /// database busy in the middle.
    case deferred = "DEFERRED"
    /// The lock for writing at once; others go on reading.
    case immediate = "IMMEDIATE"
    /// Every lock at once; in rollback mode nobody else can read.
    case exclusive = "EXCLUSIVE"
}

extension Database {
    /// Begins a transaction.
    ///
    /// - Throws: ``DatabaseError``, also where one is open already; ``KeyError``.
    public func beginTransaction(_ kind: TransactionKind = .immediate) throws {
        try executeStatements("BEGIN \(raw: kind.rawValue)")
    }

    /// Makes the changes of the open transaction last. Where it throws, the transaction may still be open.
    ///
    /// - Throws: ``DatabaseError``, also where no transaction is open.
    public func commit() throws {
        try executeStatements("COMMIT")
    }

    /// Undoes the changes of the open transaction.
    ///
    /// - Throws: ``DatabaseError``, also where no transaction is open.
    public func rollback() throws {
        try inTurn { try undo("ROLLBACK") }
    }

    /// Runs `body` in a transaction, which is committed when it returns and rolled back when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` where the transaction cannot be begun or committed, and then the
    ///   changes are undone; with ``ResultCode/abortedByRollback`` for each statement that follows where the transaction ended inside
    ///   of `body`, as by `rollback()` or a full disk, and at the end of `body`.
    @discardableResult
    public func inTransaction<Result>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try inTransaction(kind) { database, _ in try body(database) }
    }

    /// Runs `body` in a transaction, which is committed when it returns, unless it set its second argument, and rolled
    /// back when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` where the transaction cannot be begun or committed, and then the
    ///   changes are undone.
    @discardableResult
    public func inTransaction<Result>(
        _ kind: TransactionKind = .immediate,
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let writers = connection?.openWriters ?? []
        return try actingAfterCommit {
            try beginTransaction(kind)
            do {
                var undo = false
                let result = try keepingTransaction { try body(self, &undo) }
                try endWriters(of: writers)
                if undo {
                    actionsAfterCommit = []
                    try rollback()
                } else {
                    try commit()
                }
                return result
            } catch {
                // After some errors, such as a full disk, SQLite has rolled back by itself.
                abandonTransaction()
                throw error
            }
        }
    }

    /// Runs `body` as ``inTransaction(_:_:)`` does, in a transaction that it may share with the blocks before it and after it.
    func inSharedTransaction<Result>(
        _ commits: SharedCommits,
        _ body: (Database, _ rollback: inout Bool) throws -> Result
    ) throws -> Result {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        return try actingAfterCommit(isShared: true) {
            let isSavePoint = try commits.begin()
            do {
                var undo = false
                let result = try sharing(isSavePoint) { try keepingTransaction { try body(self, &undo) } }
                try endWriters(of: [])
                if undo {
                    actionsAfterCommit = []
                    if isSavePoint { try undoSavePoint(SharedCommits.savePoint) } else { try rollback() }
                } else {
                    try commits.end(savePoint: isSavePoint, isLast: actionsAfterCommit?.isEmpty == false)
                }
                return result
            } catch {
                try? endWriters(of: [])
                if isSavePoint { try abandonSavePoint(SharedCommits.savePoint) } else { abandonTransaction() }
                throw error
            }
        }
    }

    /// Runs `body`; where others wait for it, what it does to the whole transaction is done to its own changes.
    private func sharing<Result>(_ isShared: Bool, _ body: () throws -> Result) throws -> Result {
        let connection = connection
        connection?.sharing = isShared ? .shared : .alone
        defer { connection?.sharing = .alone }
        return try body()
    }

    /// Calls `action` once, when the transaction around was committed; never when it, or a savepoint around, is undone. Outside of a
    /// transaction it is called at once.
    ///
    /// ```swift
    /// try queue.inTransaction { database in
    ///     try note.insert(database)
    ///     try database.afterCommit { upload.start() }
    /// }
    /// ```
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/misuse`` in a transaction that was begun by ``beginTransaction(_:)`` or SQL, of whose
    ///   end nobody tells, and with ``ResultCode/abortedByRollback`` where it has ended already; ``KeyError``.
    public func afterCommit(_ action: @escaping () -> Void) throws {
        try inTurn {
            let connection = try usableConnection()
            guard isInTransaction else {
                guard !connection.requiresTransaction else { throw DatabaseError.transactionEnded }
                return action()
            }
            guard actionsAfterCommit != nil else {
                throw DatabaseError(.misuse, "call afterCommit in a block of inTransaction, write or inSavePoint")
            }
            actionsAfterCommit?.append(action)
        }
    }

    /// Runs `body`, which begins and ends a transaction or savepoint, and then what it wants done after the commit; where a transaction
    /// is open still, its end decides.
    private func actingAfterCommit<Result>(isShared: Bool = false, _ body: () throws -> Result) throws -> Result {
        let outer = actionsAfterCommit
        // In a transaction that another way began nobody sees the commit.
        guard outer != nil || isShared || !isInTransaction else { return try body() }
        actionsAfterCommit = []
        let result: Result
        do {
            result = try body()
        } catch {
            actionsAfterCommit = outer
            throw error
        }
        let actions = actionsAfterCommit ?? []
        actionsAfterCommit = outer.map { $0 + actions }
        if outer == nil { for action in actions { action() } }
        return result
    }

    /// Runs `body` in a transaction of its own, in which nothing can be written, so that all of it sees one state.
    func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
        // The program may have set it for good.
        let wasSet = try value(forQuery: "PRAGMA query_only") ?? false
        // Before it begins, because the setting may be in force where the call fails.
        defer { endReading(wasSet) }
        try usableConnection().becomeReader()
        return try inSnapshot(body)
    }

    private func endReading(_ staysReadOnly: Bool) {
        // Of the connection there is then.
        guard let connection else { return }
        if staysReadOnly { return connection.authorizer.isReader = false }
        // One that refused all writes from here on would be of no use.
        do { try connection.endReading() } catch { close() }
    }

    /// Runs `body` in a transaction of its own, which is rolled back, so that all of it sees one state.
    func inSnapshot<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try beginTransaction(.deferred)
        let result = Swift.Result { try keepingTransaction { try body(self) } }
        closeOpenResultSets()
        if isInTransaction { try? rollback() }
        return try result.get()
    }

    /// Runs `body`, whose statements belong to the transaction that is open now: when it ended inside of `body`, by an error that SQLite
    /// answers with a rollback or by the program, each further statement throws, as it would be a transaction of its own.
    private func keepingTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        let connection = connection
        let isInner = connection?.requiresTransaction ?? false
        connection?.requiresTransaction = true
        defer { connection?.requiresTransaction = isInner }
        let result = try body()
        // A block may also have closed its database.
        guard isInTransaction || self.connection !== connection else { throw DatabaseError.transactionEnded }
        return result
    }

    /// Rolls back where a transaction is open, after an error that is thrown on.
    func abandonTransaction() {
        guard isInTransaction else { return }
        // Of a closed statement: it must not stop what follows.
        _ = connection?.takeDeferredError()
        try? rollback()
    }

    /// Runs what undoes changes, and is not interrupted. The interruption of an earlier statement lasts as long as one is active, and a
    /// full-text index that was written to keeps its own so until the transaction ends.
    private func undo(_ sql: SQL) throws {
        guard let interrupter else { return try executeStatements(sql) }
        try interrupter.undoing {
            do {
                try executeStatements(sql)
            } catch let error as DatabaseError where error.code.primary == .interrupted && isInTransaction {
                connection?.endAllStatements()
                try executeStatements(sql)
            }
        }
    }

    /// Begins a savepoint: a transaction that may stand inside another. The name may have any characters.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func startSavePoint(withName name: String) throws {
        try executeStatements("SAVEPOINT \(identifier: name)")
    }

    /// Keeps what was done since the savepoint began, and ends it.
    ///
    /// - Throws: ``DatabaseError``, also where no savepoint has the name.
    public func releaseSavePoint(withName name: String) throws {
        try executeStatements("RELEASE SAVEPOINT \(identifier: name)")
    }

    /// Undoes what was done since the savepoint began, and leaves it open.
    ///
    /// - Throws: ``DatabaseError``, also where no savepoint has the name.
    public func rollbackToSavePoint(withName name: String) throws {
        try inTurn { try undo("ROLLBACK TO SAVEPOINT \(identifier: name)") }
    }

    /// Runs `body` in a savepoint of its own, whose changes are undone when it throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``.
    @discardableResult
    public func inSavePoint<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try inSavePoint { database, _ in try body(database) }
    }

    /// Runs `body` in a savepoint of its own, whose changes are undone when it sets its second argument or throws.
    ///
    /// - Throws: what `body` throws; ``DatabaseError``.
    @discardableResult
    public func inSavePoint<Result>(_ body: (Database, _ rollback: inout Bool) throws -> Result) throws -> Result {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let name = nextSavePointName()
        let writers = connection?.openWriters ?? []
        let isInOther = connection?.mayHaveSavePoint ?? false
        // Its end is also that of those inside.
        defer { connection?.mayHaveSavePoint = isInOther }
        return try actingAfterCommit {
            try startSavePoint(withName: name)
            do {
                var undo = false
                let result = try keepingTransaction { try body(self, &undo) }
                try endWriters(of: writers)
                if undo {
                    actionsAfterCommit = actionsAfterCommit.map { _ in [] }
                    try rollbackToSavePoint(withName: name)
                }
                try releaseSavePoint(withName: name)
                return result
            } catch {
                try? endWriters(of: writers)
                try abandonSavePoint(name)
                throw error
            }
        }
    }

    /// Ends what writes and was left open in a block that is over.
    private func endWriters(of outer: Set<OpaquePointer>) throws {
        connection?.endWriters(of: outer)
        try throwDeferredError(connection)
    }

    private func undoSavePoint(_ name: String) throws {
        try rollbackToSavePoint(withName: name)
        try releaseSavePoint(withName: name)
    }

    /// Undoes a savepoint, where its transaction is open, after an error that is thrown on.
    ///
    /// - Throws: ``DatabaseError`` where that cannot be done, and the transaction is undone.
    private func abandonSavePoint(_ name: String) throws {
        guard isInTransaction else { return }
        _ = connection?.takeDeferredError()
        do {
            try undoSavePoint(name)
        } catch {
            // What was to be undone must not be committed with the rest.
            abandonTransaction()
            throw error
        }
    }
}
