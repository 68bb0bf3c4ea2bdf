#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the current row of a query as a `Decodable` type: each coding key, behind the prefix, is the name of a column.
///
/// One reads all rows, because making a new container for each takes longer than reading its columns. It keeps neither the result set,
/// which keeps it, nor itself: the container has the columns only.
final class RowDecoder: Decoder {
    private let columns: RowColumns
    /// The container of the last row.
    // The ``Turn`` of the connection keeps other threads out, and it is read and written at once.
    @exclusivity(unchecked) private var container: AnyRowContainer?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ columns: RowColumns) {
        self.columns = columns
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard columns.isMine else { throw Turn.refusalOfColumn }
        if let container, container.key == ObjectIdentifier(Key.self) {
            // Safe because the type of the keys is that of the box.
            return unsafeDowncast(container, to: BoxedRowContainer<Key>.self).container
        }
        let new = BoxedRowContainer<Key>(KeyedDecodingContainer(RowContainer(columns: columns)))
        container = new
        return new.container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DatabaseError(.mismatch, "a row cannot be read into an array", sql: columns.sql)
    }

    /// A type that is one value is read from the first column, and is no record in another.
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard columns.isMine else { throw Turn.refusalOfColumn }
        guard !columns.hasPrefix else { throw OneValue() }
        return ColumnDecoder(column: columns.column(0))
    }
}

/// A container, kept for the next row: it has the type of its keys, by which it is known again.
private class AnyRowContainer {
    let key: ObjectIdentifier

    init(_ key: ObjectIdentifier) {
        self.key = key
    }
}

private final class BoxedRowContainer<Key: CodingKey>: AnyRowContainer {
    let container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) {
        self.container = container
        super.init(ObjectIdentifier(Key.self))
    }
}

/// The columns of a row by coding keys.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let columns: RowColumns
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        columns.names.all.filter { $0.hasPrefix(columns.prefix) && !$0.hasSuffix(ColumnNames.recordMark) }.compactMap {
            Key(stringValue: String($0.dropFirst(columns.prefix.count)))
        }
    }

    func contains(_ key: Key) -> Bool { (try? index(key)) != nil || isRecord(key) }

    /// Nil where there is no such column.
    @inline(__always) private func index(_ key: Key) throws -> Int? {
        guard columns.isMine else { throw Turn.refusalOfColumn }
        return columns.names.index(ofKey: name(key))
    }

    @inline(__always) private func name(_ key: Key) -> String {
        columns.hasPrefix ? columns.prefix + key.stringValue : key.stringValue
    }

    /// Whether columns have the key and a dot before their names.
    private func isRecord(_ key: Key) -> Bool { columns.names.hasRecords && !indices(ofRecord: key).isEmpty }

    private func indices(ofRecord key: Key) -> [Int] { columns.names.indices(ofRecord: name(key)) }

    @inline(__always) private func column(_ key: Key) throws -> ResultColumn {
        guard let index = try index(key) else { throw noColumn(key) }
        return columns.column(index)
    }

    private func noColumn(_ key: Key, orRecord: Bool = false) -> DatabaseError {
        DatabaseError(
            .range,
            "the result has no column with the name \(name(key))"
                + (orRecord ? ", nor columns with the prefix \(name(key))." : ""),
            sql: columns.sql
        )
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard try index(key) == nil, isRecord(key) else { return try column(key).storageClass == .null }
        return try isMissing(key)
    }

    /// A record that an outer join did not find has NULL in each column.
    private func isMissing(_ key: Key) throws -> Bool {
        try indices(ofRecord: key).allSatisfy { try columns.column($0).storageClass == .null }
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard isRecord(key), !(type is any ColumnDecodable.Type) else {
            guard let index = try index(key) else { throw noColumn(key, orRecord: !(type is any ColumnDecodable.Type)) }
            return try columns.column(index).decode(type)
        }
        // Columns are named by the data, too: no stack is deep enough for any name.
        guard columns.prefix.utf8.count < 1000 else {
            throw DatabaseError(.tooBig, "the records are nested too deeply")
        }
        do {
            return try Value(from: RowDecoder(columns.ofRecord(key)))
        } catch is OneValue {
            return try column(key).decode(type)
        }
    }

    /// A record comes before a column of the same name, such as a foreign key; one value does not.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let isRecord = isRecord(key)
        guard let index = try index(key) else {
            return try !isRecord || isMissing(key) ? nil : try decode(type, forKey: key)
        }
        guard isRecord, !(type is any ColumnDecodable.Type) else {
            return try columns.column(index).decodeIfPresent(type)
        }
        guard try isMissing(key) else { return try decode(type, forKey: key) }
        do {
            _ = try Value(from: RowDecoder(columns.ofRecord(key)))
        } catch is OneValue {
            return try columns.column(index).decodeIfPresent(type)
        } catch {}
        return nil
    }

    // These need not look for what they are.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try Bool.decode(column(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try Int.decode(column(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try Int64.decode(column(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try Double.decode(column(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try String.decode(column(key)) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try value(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try value(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try value(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try value(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try value(key) }

    private func value<Value: ColumnDecodable>(_ key: Key) throws -> Value? {
        guard let index = try index(key) else { return nil }
        return try Value?.decode(columns.column(index))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        throw try column(key).mismatch(KeyedDecodingContainer<Nested>.self)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try column(key).mismatch((any UnkeyedDecodingContainer).self)
    }

    /// A class and the one that it inherits from share the row.
    func superDecoder() throws -> any Decoder { RowDecoder(columns) }
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
    func decodeNil() -> Bool { (try? column.storageClass) == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try column.decode(type) }
}

extension ResultColumn {
    /// The value as the type, by its own way to be read from a column where it has one.
    fileprivate func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Asking for a conformance takes longer than reading the value.
        // These hold because the types are the same; a cast would look for what they are.
        if type == Data.self { return unsafeBitCast(try Data.decode(self), to: Value.self) }
        if type == Date.self { return unsafeBitCast(try Date.decode(self), to: Value.self) }
        if let type = type as? any ColumnDecodable.Type, let value = try type.decode(self) as? Value { return value }
        if let type = type as? any OptionalDecodable.Type, let value = try type.decodeOptional(self) as? Value {
            return value
        }
        guard let value = try decodeByCoding(type, orJSON: decodeJSON) else { throw mismatch(type) }
        return value
    }

    /// As ``decode(_:)``; nil for NULL, and for JSON's own null where the type has none.
    fileprivate func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard try storageClass != .null else { return nil }
        if type == Data.self || type == Date.self { return try decode(type) }
        if let type = type as? any ColumnDecodable.Type { return try type.decodeIfPresent(self) as? Value }
        if type is any OptionalDecodable.Type { return try decode(type) }
        return try decodeByCoding(type, orJSON: decodeJSONIfPresent)
    }

    /// - Parameter json: Reads it where it is made of several values.
    private func decodeByCoding<Value: Decodable>(
        _ type: Value.Type,
        orJSON json: (Value.Type) throws -> Value?
    ) throws -> Value? {
        do {
            return try Value(from: ColumnDecoder(column: self))
        } catch is SeveralValues {
            return try json(type)
        } catch is DecodingError {
            throw noValue(of: type)
        }
    }
}

/// An optional of whatever type.
private protocol OptionalDecodable {
    static func decodeOptional(_ column: ResultColumn) throws -> Self
}

extension Optional: OptionalDecodable where Wrapped: Decodable {
    fileprivate static func decodeOptional(_ column: ResultColumn) throws -> Wrapped? {
        try column.decodeIfPresent(Wrapped.self)
    }
}
