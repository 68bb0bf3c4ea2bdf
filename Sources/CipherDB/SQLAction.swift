/// Something that a statement is about to be allowed to do, asked about while it is compiled (sqlite.org/c3ref/set_authorizer.html).
public struct SQLAction: Sendable, Hashable {
    /// What it is, by SQLite's own codes.
    public enum Kind: Int32, Sendable, CaseIterable {
        case createIndex = 1, createTable, createTemporaryIndex, createTemporaryTable, createTemporaryTrigger
        case createTemporaryView, createTrigger, createView, delete, dropIndex, dropTable, dropTemporaryIndex
        case dropTemporaryTable, dropTemporaryTrigger, dropTemporaryView, dropTrigger, dropView, insert, pragma, read
        case select, transaction, update, attach, detach, alterTable, reindex, analyze, createVirtualTable
        case dropVirtualTable, function, savepoint, recursive
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

/// What is said to an action.
public enum SQLDecision: Int32, Sendable {
    /// It may be done.
    case allow = 0
    /// The statement is not compiled.
    case deny = 1
    /// Reading gives NULL, and whatever else is left out.
    case ignore = 2
}
