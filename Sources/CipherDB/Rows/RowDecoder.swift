#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the current row of a result set as a `Decodable` type: each coding key is the name of a column.
struct RowDecoder: Decoder {
    let row: ResultSet
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DatabaseError(.mismatch, "a row has names, and no array is made of it", sql: row.statement.sql)
    }

    /// A type that is one value is read from the first column.
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ColumnDecoder(column: try row.column(0))
    }
}

/// The columns of a row by coding keys.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: ResultSet
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columnNames.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row.columnIndex(forKey: key.stringValue) != nil }

    private func column(_ key: Key) throws -> Column {
        guard let index = row.columnIndex(forKey: key.stringValue) else {
            return try row.column(row.columnIndex(forName: key.stringValue))
        }
        return try row.column(index)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try column(key).storageClass == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try column(key).decode(type) }

    // These need not look for what they are.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try Bool.decode(column(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try Int.decode(column(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try Int64.decode(column(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try Double.decode(column(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try String.decode(column(key)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        throw try column(key).isNoContainer
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try column(key).isNoContainer
    }

    /// A class and the one that it inherits from share the row.
    func superDecoder() throws -> any Decoder { RowDecoder(row: row) }
    func superDecoder(forKey key: Key) throws -> any Decoder { ColumnDecoder(column: try column(key)) }
}

/// One column, for a type that is made from one value: an enumeration with raw values, or a wrapper.
private struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
    let column: Column
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw column.isNoContainer
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw column.isNoContainer }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { column.storageClass == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try column.decode(type) }
}

extension Column {
    /// The value as the type, by its own way to be read from a column where it has one.
    fileprivate func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Asking for a conformance takes longer than reading the value.
        if type == Data.self, let value = try Data.decode(self) as? Value { return value }
        if type == Date.self, let value = try Date.decode(self) as? Value { return value }
        if let type = type as? any ColumnDecodable.Type, let value = try type.decode(self) as? Value { return value }
        do {
            return try Value(from: ColumnDecoder(column: self))
        } catch is DecodingError {
            throw DatabaseError(
                .mismatch,
                "column \(index) (\(name)) holds \(storageClass.rawValue) that is no \(type)",
                sql: statement.sql
            )
        }
    }

    fileprivate var isNoContainer: DatabaseError {
        DatabaseError(
            .mismatch,
            "column \(index) (\(name)) is one value; what has several inside is kept in a JSONColumn",
            sql: statement.sql
        )
    }
}
