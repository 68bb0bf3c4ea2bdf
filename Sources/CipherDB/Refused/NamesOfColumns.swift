#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Names that users of other libraries type for columns and conditions: the compiler says what they are here.

extension Condition {
    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") == value")
    public static func equal(_ column: String, _ value: (any ColumnEncodable)?) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") != value")
    public static func notEqual(_ column: String, _ value: (any ColumnEncodable)?) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") < value")
    public static func less(_ column: String, than value: any ColumnEncodable) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") > value")
    public static func greater(_ column: String, than value: any ColumnEncodable) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") <= value")
    public static func lessOrEqual(_ column: String, to value: any ColumnEncodable) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") >= value")
    public static func greaterOrEqual(_ column: String, to value: any ColumnEncodable) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\").between(least, greatest)")
    public static func between(_ column: String, _ least: any ColumnEncodable, and greatest: any ColumnEncodable)
        -> Condition
    {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\").like(pattern)")
    public static func like(_ column: String, _ pattern: String) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\").isIn(values)")
    public static func isIn(_ column: String, _ values: [any ColumnEncodable]) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") == nil")
    public static func isNull(_ column: String) -> Condition { fatalError("unavailable") }
}

extension Column {
    /// Not there: see ``isIn(_:)``.
    @available(*, unavailable, renamed: "isIn")
    public func `in`(_ values: [any ColumnEncodable]) -> Condition { fatalError("unavailable") }

    /// Not there: see ``between(_:_:)``.
    @available(*, unavailable, renamed: "between(_:_:)")
    public func between(_ least: any ColumnEncodable, and greatest: any ColumnEncodable) -> Condition {
        fatalError("unavailable")
    }
}

extension Sequence where Element: ColumnEncodable {
    /// Not there: see ``Column/isIn(_:)``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a column with one of some values is Column(\"name\").isIn(values)")
    public func contains(_ column: Column) -> Condition { fatalError("unavailable") }
}

extension ResultSet {
    /// Not there: see ``JSONColumn``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in one column is JSON: (try rows[name] as JSONColumn<[Element]>).value"
    )
    public subscript<Element: Decodable>(_ column: String) -> [Element] { fatalError("unavailable") }

    /// Not there: see ``string(forColumnIndex:)``.
    @available(*, unavailable, renamed: "string(forColumnIndex:)")
    public func string(forColumn index: Int) throws -> String? { fatalError("unavailable") }

    /// Not there: see ``int(forColumnIndex:)``.
    @available(*, unavailable, renamed: "int(forColumnIndex:)")
    public func int(forColumn index: Int) throws -> Int? { fatalError("unavailable") }

    /// Not there: see ``double(forColumnIndex:)``.
    @available(*, unavailable, renamed: "double(forColumnIndex:)")
    public func double(forColumn index: Int) throws -> Double? { fatalError("unavailable") }

    /// Not there: see ``bool(forColumnIndex:)``.
    @available(*, unavailable, renamed: "bool(forColumnIndex:)")
    public func bool(forColumn index: Int) throws -> Bool? { fatalError("unavailable") }

    /// Not there: see ``data(forColumnIndex:)``.
    @available(*, unavailable, renamed: "data(forColumnIndex:)")
    public func data(forColumn index: Int) throws -> Data? { fatalError("unavailable") }

    /// Not there: see ``date(forColumnIndex:)``.
    @available(*, unavailable, renamed: "date(forColumnIndex:)")
    public func date(forColumn index: Int) throws -> Date? { fatalError("unavailable") }

    /// Not there: see ``int64(forColumn:)``.
    @available(*, unavailable, renamed: "int64(forColumn:)")
    public func longLongInt(forColumn name: String) throws -> Int64? { fatalError("unavailable") }

    /// Not there: see ``DatabaseValue``.
    @available(
        *,
        unavailable,
        message: "a value of any kind is DatabaseValue: let value: DatabaseValue = try rows[name]"
    )
    public func object(forColumn name: String) throws -> Any? { fatalError("unavailable") }

    /// Not there: see ``int64(forColumnIndex:)``.
    @available(*, unavailable, renamed: "int64(forColumnIndex:)")
    public func longLongInt(forColumnIndex index: Int) throws -> Int64? { fatalError("unavailable") }

    /// Not there: see ``DatabaseValue``.
    @available(
        *,
        unavailable,
        message: "a value of any kind is DatabaseValue: let value: DatabaseValue = try rows[name]"
    )
    public func object(forColumnIndex index: Int) throws -> Any? { fatalError("unavailable") }
}
