/// A row that a statement inserted, changed or deleted.
public struct RowChange: Sendable, Hashable {
    /// What happened to the row.
    public enum Kind: Sendable {
        /// It is new.
        case insert
        /// Its columns were changed.
        case update
        /// It is gone.
        case delete
    }

    /// What happened.
    public let kind: Kind
    /// The database: `main`, `temp` or one that is attached.
    public let schema: String
    /// The table.
    public let table: String
    /// The row's identifier.
    public let rowID: Int64
}

/// An event of a trace. Bound values are not in it, nor SQL that may hold a key.
public enum TraceEvent: Sendable, Hashable {
    /// A statement begins.
    case began(sql: String)
    /// A statement ended, after this time.
    case ended(sql: String, duration: Duration)
}

/// An action of a statement, which an authorizer allows or refuses while the statement is compiled (sqlite.org/c3ref/set_authorizer.html).
public struct AuthorizerAction: Sendable, Hashable {
    /// The kinds of actions, by SQLite's codes.
    public enum Kind: Int32, Sendable, CaseIterable {
        /// An index is made: its name, its table.
        case createIndex = 1
        /// A table is made: its name.
        case createTable
        /// A temporary index is made: its name, its table.
        case createTemporaryIndex
        /// A temporary table is made: its name.
        case createTemporaryTable
        /// A temporary trigger is made: its name, its table.
        case createTemporaryTrigger
        /// A temporary view is made: its name.
        case createTemporaryView
        /// A trigger is made: its name, its table.
        case createTrigger
        /// A view is made: its name.
        case createView
        /// Rows are deleted: the table.
        case delete
        /// An index is dropped: its name, its table.
        case dropIndex
        /// A table is dropped: its name.
        case dropTable
        /// A temporary index is dropped: its name, its table.
        case dropTemporaryIndex
        /// A temporary table is dropped: its name.
        case dropTemporaryTable
        /// A temporary trigger is dropped: its name, its table.
        case dropTemporaryTrigger
        /// A temporary view is dropped: its name.
        case dropTemporaryView
        /// A trigger is dropped: its name, its table.
        case dropTrigger
        /// A view is dropped: its name.
        case dropView
        /// Rows are inserted: the table.
        case insert
        /// A pragma is run: its name, its argument where there is one.
        case pragma
        /// A column is read: the table, the column, which is empty where only rows are counted.
        case read
        /// A SELECT is run.
        case select
        /// A transaction is begun, committed or rolled back: `BEGIN`, `COMMIT` or `ROLLBACK`.
        case transaction
        /// A column is changed: the table, the column.
        case update
        /// A file is attached: its path, where that is a constant.
        case attach
        /// A database is detached: its name.
        case detach
        /// A table is altered: the database, the table.
        case alterTable
        /// REINDEX of an index: its name.
        case reindex
        /// A table is analysed: its name.
        case analyze
        /// A virtual table is made: its name, its module.
        case createVirtualTable
        /// A virtual table is dropped: its name, its module.
        case dropVirtualTable
        /// A function is called: its name is the second text.
        case function
        /// A savepoint is begun, released or rolled back to: `BEGIN`, `RELEASE` or `ROLLBACK`, its name.
        case savepoint
        /// A query refers to itself.
        case recursive
    }

    /// What it is.
    public let kind: Kind
    /// A table, index, trigger, pragma, file or the like; what it is depends on the kind.
    public let first: String?
    /// A column, a table, a pragma's argument, a function or the like.
    public let second: String?
    /// The database: `main`, `temp` or one that is attached.
    public let schema: String?
    /// The trigger or view that does it, where one does.
    public let source: String?
}

/// The answer of an authorizer.
public enum AuthorizerDecision: Int32, Sendable {
    /// It may be done.
    case allow = 0
    /// The statement is not compiled.
    case deny = 1
    /// Reading gives NULL, and whatever else is left out.
    case ignore = 2
}

/// What a connection tells while it works. The closures run on the thread that runs the statement and must not use the
/// database. They stay when it is closed and opened again.
extension Database {
    /// Calls `hook` for each row that a statement inserts, changes or deletes in a rowid table; nil removes it.
    ///
    /// SQLite does not tell of rows that `REPLACE` removes, nor of a DELETE without a condition, which empties the table at
    /// once.
    public func setUpdateHook(_ hook: (@Sendable (RowChange) -> Void)?) {
        inTurn(or: ()) {
            hooks.update = hook
            installHooks()
        }
    }

    /// Calls `hook` before each transaction is committed; false turns the commit into a rollback. Nil ends it. Set in a block of `write`, it
    /// decides about those that share its commit, too: set it in `inDatabase`, or in `Configuration.prepareDatabase`.
    public func setCommitHook(_ hook: (@Sendable () -> Bool)?) {
        inTurn(or: ()) {
            hooks.commit = hook
            installHooks()
        }
    }

    /// Calls `hook` after each transaction that was rolled back; nil ends it.
    public func setRollbackHook(_ hook: (@Sendable () -> Void)?) {
        inTurn(or: ()) {
            hooks.rollback = hook
            installHooks()
        }
    }

    /// Asks `authorizer` about everything that a statement is about to do, while it is compiled; nil ends it. What the library
    /// refuses on a keyed connection it is not asked about.
    public func setAuthorizer(_ authorizer: (@Sendable (AuthorizerAction) -> AuthorizerDecision)?) {
        inTurn(or: ()) {
            hooks.authorizer = authorizer
            // What was compiled before was allowed by another.
            clearCachedStatements()
            installHooks()
        }
    }

    /// Calls `trace` when a statement begins and when it ended; nil ends it.
    public func setTrace(_ trace: (@Sendable (TraceEvent) -> Void)?) {
        inTurn(or: ()) {
            hooks.trace = trace
            installHooks()
        }
    }

    /// Has a log told which tables are changed.
    func track(_ log: ChangeLog) {
        hooks.tracker = ChangeTracker(log: log)
        installHooks()
        hooks.tracker?.lastDataVersion = try? dataVersion
    }

    private func installHooks() {
        // While it is opened and keyed the statements are the library's own.
        if case .unkeyed = state { return }
        connection?.install(hooks)
    }
}
