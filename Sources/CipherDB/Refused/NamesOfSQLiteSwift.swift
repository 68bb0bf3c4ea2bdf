// What users of SQLite.swift type first: the compiler says what it is here.

extension Database {
    /// Not there: see ``executeUpdate(_:_:)``.
    @available(*, unavailable, message: "one statement is executeUpdate(\"…\", values)")
    public func run(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws { fatalError("unavailable") }

    /// Not there: see ``executeUpdate(_:values:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "one statement is executeUpdate(\"…\", values: [a, b])")
    public func run(_ sql: SQL, _ values: [(any ColumnEncodable)?]) throws { fatalError("unavailable") }

    /// Not there: see ``value(forQuery:_:)``.
    @available(*, unavailable, message: "one value is value(forQuery: \"…\", values), or int(forQuery:) and the like")
    public func scalar(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Any? { fatalError("unavailable") }

    /// Not there: see ``inTransaction(_:_:)-(_,(Database)->Result)``.
    @available(*, unavailable, message: "a transaction is inTransaction { database in … }")
    @discardableResult
    public func transaction<Result>(_ kind: TransactionKind = .deferred, _ body: () throws -> Result) throws -> Result {
        fatalError("unavailable")
    }

    /// Not there: see ``inTransaction(_:_:)-(_,(Database)->Result)``.
    @available(*, unavailable, message: "a transaction is inTransaction { database in … }")
    @discardableResult
    public func transaction<Result>(_ kind: TransactionKind = .deferred, _ body: (Database) throws -> Result) throws
        -> Result
    { fatalError("unavailable") }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(*, unavailable, message: "a savepoint is inSavePoint { database in … }")
    @discardableResult
    public func savepoint<Result>(_ name: String = "", _ body: () throws -> Result) throws -> Result {
        fatalError("unavailable")
    }
}

extension Column {
    /// Not there: see ``Ordering``.
    @available(*, unavailable, message: "the greatest first is .descending(\"column\")")
    public var desc: Ordering { fatalError("unavailable") }

    /// Not there: see ``Ordering``.
    @available(*, unavailable, message: "the least first is .ascending(\"column\")")
    public var asc: Ordering { fatalError("unavailable") }

    /// Not there: see ``Database/executeUpdate(_:_:)``.
    @available(
        *,
        unavailable,
        message: "what SQL computes is SQL: executeUpdate(\"UPDATE player SET score = score + \\(1) WHERE …\")"
    )
    public static func + (column: Column, value: any ColumnEncodable) -> any ColumnEncodable {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/executeUpdate(_:_:)``.
    @available(
        *,
        unavailable,
        message: "what SQL computes is SQL: executeUpdate(\"UPDATE player SET score = score - \\(1) WHERE …\")"
    )
    public static func - (column: Column, value: any ColumnEncodable) -> any ColumnEncodable {
        fatalError("unavailable")
    }
}
