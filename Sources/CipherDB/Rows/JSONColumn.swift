#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value of several parts that is kept in one column, as JSON text.
///
/// ```swift
/// struct Note: Codable, RowDecodable {
///     var id: Int64
///     var tags: JSONColumn<[String]>
/// }
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

extension JSONColumn: Bindable {
    /// The JSON, with its keys in order, so that equal values are equal text.
    public var databaseValue: DatabaseValue {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
            } catch {
                throw DatabaseError(.mismatch, "\(Value.self) cannot be written as JSON")
            }
        }
    }
}

extension JSONColumn: ColumnDecodable {
    /// The value in a text, or a blob, of JSON.
    public static func decode(_ column: Column) throws -> JSONColumn {
        let json = try Data.decode(column)
        do {
            return JSONColumn(try JSONDecoder().decode(Value.self, from: json))
        } catch is DecodingError {
            // Its path may have keys of a dictionary in it, which are values here.
            throw DatabaseError(
                .mismatch,
                "column \(column.index) (\(column.name)) holds JSON that is not \(Value.self)",
                sql: column.statement.sql
            )
        }
    }
}
