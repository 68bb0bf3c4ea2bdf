// Enumerations that are not declared as what is bound and read: the compiler says what to add to them.

extension SQL.StringInterpolation {
    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value) { fatalError("unavailable") }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public mutating func appendInterpolation<Value: RawRepresentable & Encodable>(_ value: Value) {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value?) { fatalError("unavailable") }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public mutating func appendInterpolation<Value: RawRepresentable & Encodable>(_ value: Value?) {
        fatalError("unavailable")
    }
}

extension Column {
    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public static func == <Value: RawRepresentable>(column: Column, value: Value) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public static func == <Value: RawRepresentable>(column: Column, value: Value?) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public static func != <Value: RawRepresentable>(column: Column, value: Value) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public static func != <Value: RawRepresentable>(column: Column, value: Value?) -> Condition {
        fatalError("unavailable")
    }
}

extension Database {
    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func executeUpdate<Value: RawRepresentable>(_ sql: SQL, _ value: Value) throws { fatalError("unavailable") }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func executeUpdate<Value: RawRepresentable>(_ sql: SQL, _ value: Value?) throws { fatalError("unavailable") }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func executeQuery<Value: RawRepresentable>(_ sql: SQL, _ value: Value) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func executeQuery<Value: RawRepresentable>(_ sql: SQL, _ value: Value?) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func value<Value: RawRepresentable>(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Value?
    {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func fetchAll<Value: RawRepresentable>(_ type: Value.Type, _ sql: SQL, _ values: (any ColumnEncodable)?...)
        throws
        -> [Value]
    { fatalError("unavailable") }

    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public func fetchOne<Value: RawRepresentable>(_ type: Value.Type, _ sql: SQL, _ values: (any ColumnEncodable)?...)
        throws
        -> Value?
    { fatalError("unavailable") }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "each value must be ColumnEncodable: an enumeration is as enum S: String, Codable, ColumnEncodable, ColumnDecodable, a value with several inside as JSONColumn(value)"
    )
    @discardableResult
    public func insert(into table: TableName, _ values: [String: Any?]) throws -> Int64? { fatalError("unavailable") }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "each value must be ColumnEncodable: an enumeration is as enum S: String, Codable, ColumnEncodable, ColumnDecodable, a value with several inside as JSONColumn(value)"
    )
    @discardableResult
    public func upsert(into table: TableName, _ values: [String: Any?], onConflict columns: String...) throws -> Int64?
    {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "each value must be ColumnEncodable: an enumeration is as enum S: String, Codable, ColumnEncodable, ColumnDecodable, a value with several inside as JSONColumn(value)"
    )
    @discardableResult
    public func update(_ table: TableName, set values: [String: Any?], where condition: Condition) throws -> Int {
        fatalError("unavailable")
    }

    /// Not there: see ``ColumnEncodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "each value must be ColumnEncodable: an enumeration is as enum S: String, Codable, ColumnEncodable, ColumnDecodable, a value with several inside as JSONColumn(value)"
    )
    @discardableResult
    public func updateAll(_ table: TableName, set values: [String: Any?]) throws -> Int { fatalError("unavailable") }
}

extension ResultSet {
    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public subscript<Value: RawRepresentable>(_ column: String) -> Value { get throws { fatalError("unavailable") } }

    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public subscript<Value: RawRepresentable>(_ column: String) -> Value? { get throws { fatalError("unavailable") } }

    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public subscript<Value: RawRepresentable>(_ index: Int) -> Value { get throws { fatalError("unavailable") } }

    /// Not there: see ``ColumnDecodable``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable"
    )
    public subscript<Value: RawRepresentable>(_ index: Int) -> Value? { get throws { fatalError("unavailable") } }
}
