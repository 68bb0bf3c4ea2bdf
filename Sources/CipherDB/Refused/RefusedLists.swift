// Arrays and dictionaries where values stand: the compiler says what to write instead.

extension Database {
    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func executeUpdate(_ sql: SQL, _ values: [(any ColumnEncodable)?]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func executeQuery(_ sql: SQL, _ values: [(any ColumnEncodable)?]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary has its own label: values: StatementValues(dictionary)")
    public func executeUpdate(_ sql: SQL, _ values: [String: (any ColumnEncodable)?]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary has its own label: values: StatementValues(dictionary)")
    public func executeQuery(_ sql: SQL, _ values: [String: (any ColumnEncodable)?]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, _ values: [(any ColumnEncodable)?]) throws
        -> [Value]
    {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, _ values: [(any ColumnEncodable)?]) throws
        -> Value?
    {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in a variable is values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func executeUpdate(_ sql: SQL, values: [(any ColumnEncodable)?]) throws { fatalError("unavailable") }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary in a variable is values: StatementValues(dictionary)")
    public func executeUpdate(_ sql: SQL, values: [String: (any ColumnEncodable)?]) throws { fatalError("unavailable") }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in a variable is values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func executeQuery(_ sql: SQL, values: [(any ColumnEncodable)?]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary in a variable is values: StatementValues(dictionary)")
    public func executeQuery(_ sql: SQL, values: [String: (any ColumnEncodable)?]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in a variable is values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, values: [(any ColumnEncodable)?]) throws
        -> [Value]
    { fatalError("unavailable") }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary in a variable is values: StatementValues(dictionary)")
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, values: [String: (any ColumnEncodable)?])
        throws
        -> [Value]
    { fatalError("unavailable") }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in a variable is values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, values: [(any ColumnEncodable)?]) throws
        -> Value?
    { fatalError("unavailable") }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary in a variable is values: StatementValues(dictionary)")
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, values: [String: (any ColumnEncodable)?])
        throws
        -> Value?
    { fatalError("unavailable") }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in a variable is values: StatementValues(array), or IN (\\(list: array)) in the SQL"
    )
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, values: [(any ColumnEncodable)?]) throws -> Value? {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary in a variable is values: StatementValues(dictionary)")
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, values: [String: (any ColumnEncodable)?]) throws
        -> Value?
    {
        fatalError("unavailable")
    }
}

extension SQL.StringInterpolation {
    /// Not there: see ``appendInterpolation(list:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a list of values stands in parentheses: IN (\\(list: values))")
    public mutating func appendInterpolation(_ values: [some ColumnEncodable]) {
        fatalError("unavailable")
    }

    /// Not there: see ``appendInterpolation(list:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a list of values stands in parentheses: IN (\\(list: values))")
    public mutating func appendInterpolation<Value: ColumnEncodable & Encodable>(_ values: [Value]) {
        fatalError("unavailable")
    }
}
