/// Arguments that are no SQL or no value: the compiler says what to write instead.
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
    public func executeUpdate(_ sql: String, _ values: (any Bindable)?...) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func executeQuery(_ sql: String, _ values: (any Bindable)?...) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func executeStatements(_ sql: String, _ values: (any Bindable)?...) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: String, _ values: (any Bindable)?...) throws
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
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: String, _ values: (any Bindable)?...) throws
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
    public func value<Value: ColumnDecodable>(forQuery sql: String, _ values: (any Bindable)?...) throws -> Value? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func int(forQuery sql: String, _ values: (any Bindable)?...) throws -> Int? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func bool(forQuery sql: String, _ values: (any Bindable)?...) throws -> Bool? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func double(forQuery sql: String, _ values: (any Bindable)?...) throws -> Double? {
        fatalError("unavailable")
    }

    /// Not there: see ``SQL/init(unsafe:)``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "text becomes SQL by SQL(unsafe:) only; write a literal, with \\(value) or ? for the values"
    )
    public func string(forQuery sql: String, _ values: (any Bindable)?...) throws -> String? {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or \\(list: array) in the SQL"
    )
    public func executeUpdate(_ sql: SQL, _ values: [(any Bindable)?]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or \\(list: array) in the SQL"
    )
    public func executeQuery(_ sql: SQL, _ values: [(any Bindable)?]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary has its own label: values: StatementValues(dictionary)")
    public func executeUpdate(_ sql: SQL, _ values: [String: (any Bindable)?]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a dictionary has its own label: values: StatementValues(dictionary)")
    public func executeQuery(_ sql: SQL, _ values: [String: (any Bindable)?]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or \\(list: array) in the SQL"
    )
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, _ values: [(any Bindable)?]) throws
        -> [Value]
    {
        fatalError("unavailable")
    }

    /// Not there: see ``StatementValues``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array has its own label: values: StatementValues(array), or \\(list: array) in the SQL"
    )
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, _ values: [(any Bindable)?]) throws
        -> Value?
    {
        fatalError("unavailable")
    }
}

extension SQL.StringInterpolation {
    /// Not there: see ``appendInterpolation(list:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a list of values is \\(list: values)")
    public mutating func appendInterpolation(_ values: [some Bindable]) {
        fatalError("unavailable")
    }

    /// Not there: see ``appendInterpolation(list:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a list of values is \\(list: values)")
    public mutating func appendInterpolation<Value: Bindable & Encodable>(_ values: [Value]) {
        fatalError("unavailable")
    }

    /// Not there: see ``JSONColumn``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a value with several inside is JSON: \\(JSONColumn(value))")
    public mutating func appendInterpolation(_ value: some Encodable) {
        fatalError("unavailable")
    }

    /// Not there: SQL in SQL is `\(sql: other)`.
    @_disfavoredOverload
    @available(*, unavailable, message: "SQL in SQL is \\(sql: other)")
    public mutating func appendInterpolation(_ other: SQL) {
        fatalError("unavailable")
    }
}
