/// A value that is stored in one column as JSON text.
///
/// A `Codable` type inside of a row is JSON by itself, unless it is one value. This is for values outside of rows, and for what SQLite has
/// a kind of value for:
///
/// ```swift
/// try database.executeUpdate("UPDATE notes SET tags = \(JSONColumn(tags)) WHERE id = \(id)")
/// ```
public struct JSONColumn<Value: Codable & Sendable>: Codable, Sendable {
    /// What is kept.
    public var value: Value

    /// A column of `value`.
    public init(_ value: Value) {
        self.value = value
    }

    /// As the value itself: also in other JSON there is nothing around it.
    public init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
    }

    /// As the value itself.
    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }
}

extension JSONColumn: Equatable where Value: Equatable {}
extension JSONColumn: Hashable where Value: Hashable {}

extension JSONColumn: ColumnEncodable {
    /// The JSON, with its keys in order, so that equal values are equal text.
    public var databaseValue: DatabaseValue {
        get throws { try JSONText(value).databaseValue }
    }

    /// The JSON, with dates and data as ``ValueStorage/datesInJSON`` and ``ValueStorage/dataInJSON`` say.
    public func databaseValue(in storage: ValueStorage) throws -> DatabaseValue {
        try JSONText(value).databaseValue(in: storage)
    }
}

extension JSONColumn: ColumnDecodable {
    /// The value in JSON: a text, a blob of text or of SQLite's binary form (``Capability/jsonb``), or a number.
    public static func decode(_ column: ResultColumn) throws -> JSONColumn {
        JSONColumn(try column.decodeJSON(Value.self))
    }

    /// The value in JSON; nil for NULL, and for JSON's own null unless the type of the value has one.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> JSONColumn? {
        try column.decodeJSONIfPresent(Value.self).map { JSONColumn($0) }
    }
}
