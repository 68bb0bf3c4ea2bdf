// What users of FMDB type first: the compiler says what it is here.

extension Database {
    /// Not there: see ``executeUpdate(_:values:)``.
    @available(
        *,
        unavailable,
        message: "values follow the SQL: executeUpdate(\"…\", a, b); an array is values: StatementValues(array)"
    )
    public func executeUpdate(_ sql: SQL, withArgumentsIn values: [Any]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``executeQuery(_:values:)``.
    @available(
        *,
        unavailable,
        message: "values follow the SQL: executeQuery(\"…\", a, b); an array is values: StatementValues(array)"
    )
    public func executeQuery(_ sql: SQL, withArgumentsIn values: [Any]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``executeUpdate(_:values:)``.
    @available(*, unavailable, message: "values by name are executeUpdate(\"…\", values: [\"name\": value])")
    public func executeUpdate(_ sql: SQL, withParameterDictionary values: [AnyHashable: Any]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``executeQuery(_:values:)``.
    @available(*, unavailable, message: "values by name are executeQuery(\"…\", values: [\"name\": value])")
    public func executeQuery(_ sql: SQL, withParameterDictionary values: [AnyHashable: Any]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``DatabaseError``.
    @available(*, unavailable, message: "what fails throws a DatabaseError, with its code and message")
    public func lastError() -> any Error { fatalError("unavailable") }

    /// Not there: see ``DatabaseError``.
    @available(*, unavailable, message: "what fails throws a DatabaseError, with its code and message")
    public func lastErrorMessage() -> String { fatalError("unavailable") }

    /// Not there: see ``lastInsertRowID``.
    @available(*, unavailable, renamed: "lastInsertRowID")
    public var lastInsertRowId: Int64 { fatalError("unavailable") }

    /// Not there: see ``value(forQuery:_:)``.
    @available(
        *,
        unavailable,
        message: "let value: Int64? = try database.value(forQuery: …) has the type that is wanted"
    )
    public func int64(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Int64? {
        fatalError("unavailable")
    }

    /// Not there: see ``DatabaseError``.
    @available(*, unavailable, message: "what fails throws a DatabaseError, with its code and message")
    public func hadError() -> Bool { fatalError("unavailable") }

    /// Not there: see ``DatabaseError``.
    @available(*, unavailable, message: "what fails throws a DatabaseError, with its code and message")
    public func lastErrorCode() -> Int32 { fatalError("unavailable") }
}
