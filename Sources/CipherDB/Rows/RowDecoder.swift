#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the current row of a result set as a `Decodable` type: each coding key, behind the prefix, is the name of a column.
struct RowDecoder: Decoder {
    let row: ResultSet
    /// Of a record inside of another, such as `team.`; empty for the whole row.
    var prefix = ""
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer(row: row, prefix: prefix))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DatabaseError(.mismatch, "a row cannot be read into an array", sql: row.statement.sql)
    }

    /// A type that is one value is read from the first column, and is no record in another.
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard prefix.isEmpty else { throw OneValue() }
        return ColumnDecoder(column: try row.column(0))
    }
}

/// The columns of a row by coding keys.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: ResultSet
    let prefix: String
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        row.columnNames.filter { $0.hasPrefix(prefix) }.compactMap {
            Key(stringValue: String($0.dropFirst(prefix.count)))
        }
    }

    func contains(_ key: Key) -> Bool { index(key) != nil || isRecord(key) }

    private func index(_ key: Key) -> Int? {
        row.columnIndex(forKey: prefix.isEmpty ? key.stringValue : prefix + key.stringValue)
    }

    /// Whether columns have the key and a dot before their names.
    private func isRecord(_ key: Key) -> Bool { row.hasRecords && !columns(ofRecord: key).isEmpty }

    private func columns(ofRecord key: Key) -> [Int] { row.columns(ofRecord: prefix + key.stringValue) }

    private func column(_ key: Key) throws -> ResultColumn {
        if let index = index(key) { return try row.column(index) }
        let name = prefix + key.stringValue
        throw DatabaseError(
            .range,
            "the result has no column with the name \(name), nor columns with the prefix \(name).",
            sql: row.statement.sql
        )
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard index(key) == nil, isRecord(key) else { return try column(key).storageClass == .null }
        return try isMissing(key)
    }

    /// A record that an outer join did not find has NULL in each column.
    private func isMissing(_ key: Key) throws -> Bool {
        try columns(ofRecord: key).allSatisfy { try row.column($0).storageClass == .null }
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard isRecord(key), !(type is any ColumnDecodable.Type) else { return try column(key).decode(type) }
        // Columns are named by the data, too: no stack is deep enough for any name.
        guard prefix.utf8.count < 1000 else {
            throw DatabaseError(.tooBig, "the records are nested too deeply")
        }
        do {
            return try Value(from: RowDecoder(row: row, prefix: prefix + key.stringValue + "."))
        } catch is OneValue {
            return try column(key).decode(type)
        }
    }

    /// A record comes before a column of the same name, such as a foreign key; one value does not.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard contains(key) else { return nil }
        guard isRecord(key), index(key) != nil, !(type is any ColumnDecodable.Type) else {
            return try decodeNil(forKey: key) ? nil : try decode(type, forKey: key)
        }
        guard try isMissing(key) else { return try decode(type, forKey: key) }
        do {
            _ = try Value(from: RowDecoder(row: row, prefix: prefix + key.stringValue + "."))
        } catch is OneValue {
            return try column(key).storageClass == .null ? nil : try column(key).decode(type)
        } catch {}
        return nil
    }

    // These need not look for what they are.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try Bool.decode(column(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try Int.decode(column(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try Int64.decode(column(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try Double.decode(column(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try String.decode(column(key)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        throw try column(key).mismatch(KeyedDecodingContainer<Nested>.self)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try column(key).mismatch((any UnkeyedDecodingContainer).self)
    }

    /// A class and the one that it inherits from share the row.
    func superDecoder() throws -> any Decoder { RowDecoder(row: row, prefix: prefix) }
    func superDecoder(forKey key: Key) throws -> any Decoder { ColumnDecoder(column: try column(key)) }
}

/// A type is one value, and no record in another.
private struct OneValue: Error {}

/// A type has several values inside, and is JSON in its column.
private struct SeveralValues: Error {}

/// One column, for a type that is made from one value: an enumeration with raw values, or a wrapper.
private struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
    let column: ResultColumn
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw SeveralValues()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SeveralValues() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { column.storageClass == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try column.decode(type) }
}

extension ResultColumn {
    /// The value as the type, by its own way to be read from a column where it has one.
    fileprivate func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Asking for a conformance takes longer than reading the value.
        if type == Data.self, let value = try Data.decode(self) as? Value { return value }
        if type == Date.self, let value = try Date.decode(self) as? Value { return value }
        if let type = type as? any ColumnDecodable.Type, let value = try type.decode(self) as? Value { return value }
        do {
            return try Value(from: ColumnDecoder(column: self))
        } catch is SeveralValues {
            return try decodeJSON(type)
        } catch is DecodingError {
            throw noValue(of: type)
        }
    }
}
