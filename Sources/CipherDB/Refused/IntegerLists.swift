#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `[1, 2]` where one value stands: Swift takes it for bytes, `[UInt8]`, and the statement would find nothing. An overload that is not
// available does not win against one that is, so these are deprecated, and throw.

extension SQL {
    /// Integers in brackets where one value stands, as in `executeUpdate("… id = ?", [1])`: they are no value, and the statement throws.
    ///
    /// Bytes are `[1, 2] as [UInt8]`, or a variable of this type.
    public struct IntegerList: ColumnEncodable, ExpressibleByArrayLiteral {
        /// What a literal makes; the integers do not matter.
        public init(arrayLiteral values: Int...) {}

        /// Throws ``DatabaseError`` with ``ResultCode/misuse``.
        public var databaseValue: DatabaseValue {
            get throws {
                throw DatabaseError(
                    .misuse,
                    "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
                )
            }
        }
    }
}

extension Database {
    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func executeUpdate(_ sql: SQL, _ values: SQL.IntegerList) throws {
        try executeUpdate(sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func executeQuery(_ sql: SQL, _ values: SQL.IntegerList) throws -> ResultSet {
        try executeQuery(sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func fetchAll<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, _ values: SQL.IntegerList) throws
        -> [Value]
    {
        try fetchAll(type, sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func fetchOne<Value: RowDecodable>(_ type: Value.Type, _ sql: SQL, _ values: SQL.IntegerList) throws
        -> Value?
    {
        try fetchOne(type, sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> Value? {
        try value(forQuery: sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func int(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> Int? {
        try int(forQuery: sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func bool(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> Bool? {
        try bool(forQuery: sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func double(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> Double? {
        try double(forQuery: sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func string(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> String? {
        try string(forQuery: sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func data(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> Data? {
        try data(forQuery: sql, values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func date(forQuery sql: SQL, _ values: SQL.IntegerList) throws -> Date? {
        try date(forQuery: sql, values: [values])
    }
}

extension Statement {
    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func executeUpdate(_ values: SQL.IntegerList) throws {
        try executeUpdate(values: [values])
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public func executeQuery(_ values: SQL.IntegerList) throws -> ResultSet {
        try executeQuery(values: [values])
    }
}

extension SQL.StringInterpolation {
    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public mutating func appendInterpolation(_ values: SQL.IntegerList) {
        appendInterpolation(values as (any ColumnEncodable)?)
    }
}

extension Column {
    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public static func == (column: Column, values: SQL.IntegerList) -> Condition {
        column == (values as (any ColumnEncodable)?)
    }

    /// Throws: see ``SQL/IntegerList``.
    @available(
        *,
        deprecated,
        message:
            "an array of integers is not one value: write values: [1, 2] for several, IN (\\(list: [1, 2])) in the SQL, isIn([1, 2]) of a column, [1, 2] as [UInt8] for bytes"
    )
    public static func != (column: Column, values: SQL.IntegerList) -> Condition {
        column != (values as (any ColumnEncodable)?)
    }

    /// Not there: see ``isIn(_:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a column that has one of several values is isIn(values)")
    public static func == (column: Column, values: [any ColumnEncodable]) -> Condition { fatalError("unavailable") }
}
