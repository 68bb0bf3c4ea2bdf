// How the blocks of other libraries end, and what other libraries do with a whole database: the compiler says what to write instead.

extension Bool {
    /// Not there: the second argument of a block of ``Database/inTransaction(_:_:)-(_,(Database,Bool)->Result)``.
    @available(*, unavailable, message: "write rollback = true")
    public var pointee: Bool {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }
}

extension Database {
    /// What a block returns in GRDB: here it commits unless it throws, or sets its second argument.
    public enum TransactionCompletion {
        /// Not there: a block that returns commits.
        case commit
        /// Not there: a block that throws rolls back.
        case rollback
    }

    /// Not there: see ``inTransaction(_:_:)-(_,(Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }"
    )
    public func inTransaction(_ kind: TransactionKind = .immediate, _ body: () throws -> Database.TransactionCompletion)
        throws
    { fatalError("unavailable") }

    /// Not there: see ``inTransaction(_:_:)-(_,(Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }"
    )
    public func inTransaction(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Database.TransactionCompletion
    ) throws { fatalError("unavailable") }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }"
    )
    public func inSavepoint(_ body: () throws -> Database.TransactionCompletion) throws { fatalError("unavailable") }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }"
    )
    public func inSavePoint(_ body: () throws -> Database.TransactionCompletion) throws { fatalError("unavailable") }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }"
    )
    public func inSavePoint(_ body: (Database) throws -> Database.TransactionCompletion) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``tableSchema(_:)``.
    @available(
        *,
        unavailable,
        message: "the columns of a table are tableSchema(\"table\"), a row each with name and type"
    )
    public func columns(in table: String) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``dropTable(_:ifExists:)``.
    @available(*, unavailable, message: "what is to go has a name: deleteAll(from: \"table\"), or dropTable(\"table\")")
    public func erase() throws { fatalError("unavailable") }
}

extension DatabaseWriter {
    /// Not there: see ``inTransaction(_:_:)-(_,(Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }"
    )
    public func writeInTransaction(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Database.TransactionCompletion
    ) throws { fatalError("unavailable") }

    /// Not there: see ``inTransaction(_:_:)-(_,(Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }"
    )
    public func inTransaction(
        _ kind: TransactionKind = .immediate,
        _ body: (Database) throws -> Database.TransactionCompletion
    ) throws { fatalError("unavailable") }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }"
    )
    public func inSavepoint(_ body: (Database) throws -> Database.TransactionCompletion) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(
        *,
        unavailable,
        message:
            "a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }"
    )
    public func inSavePoint(_ body: (Database) throws -> Database.TransactionCompletion) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/dropTable(_:ifExists:)``.
    @available(*, unavailable, message: "what is to go has a name: deleteAll(from: \"table\"), or dropTable(\"table\")")
    public func erase() throws { fatalError("unavailable") }
}

/// A loop of Swift's cannot throw what reading a row throws, and would take an error for the end.
@available(
    *,
    unavailable,
    message: "a row can fail: write try statement.executeQuery().forEach { row in … }"
)
extension Statement: Sequence {
    /// Not there: see ``ResultSet/forEach(_:)``.
    public func makeIterator() -> AnyIterator<ResultSet> { fatalError("unavailable") }
}
