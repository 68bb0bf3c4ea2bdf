// Text where SQL stands, and what is no value: the compiler says what to write instead.

extension Database {
    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func prepare(_ sql: String) throws -> Statement {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func executeUpdate(_ sql: String, _ values: (any ColumnEncodable)?...) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func executeQuery(_ sql: String, _ values: (any ColumnEncodable)?...) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func executeStatements(_ sql: String, _ values: (any ColumnEncodable)?...) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: String, _ values: (any ColumnEncodable)?...)
        throws
        -> [Value]
    {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: String, _ values: (any ColumnEncodable)?...)
        throws
        -> Value?
    {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func value<Value: ColumnDecodable>(forQuery sql: String, _ values: (any ColumnEncodable)?...) throws
        -> Value?
    {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func int(forQuery sql: String, _ values: (any ColumnEncodable)?...) throws -> Int? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func bool(forQuery sql: String, _ values: (any ColumnEncodable)?...) throws -> Bool? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func double(forQuery sql: String, _ values: (any ColumnEncodable)?...) throws -> Double? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func string(forQuery sql: String, _ values: (any ColumnEncodable)?...) throws -> String? {
        fatalError("unavailable")
    }
}

extension SQL.StringInterpolation {
    /// Not there: see ``JSONColumn``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a value with several inside is JSON: \\(JSONColumn(value))")
    public mutating func appendInterpolation(_ value: some Encodable) {
        fatalError("unavailable")
    }

    /// Not there: a list is `\(list: values)`.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "a list of values stands in parentheses: IN (\\(list: values)); an enumeration in it must be ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public mutating func appendInterpolation<Value: RawRepresentable & Encodable>(_ values: [Value]) {
        fatalError("unavailable")
    }

    /// Not there: SQL in SQL is `\(sql: other)`.
    @_disfavoredOverload
    @available(*, unavailable, message: "SQL in SQL is \\(sql: other)")
    public mutating func appendInterpolation(_ other: SQL) {
        fatalError("unavailable")
    }
}
