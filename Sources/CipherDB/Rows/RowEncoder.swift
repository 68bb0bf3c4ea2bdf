/// Collects the values of an `Encodable` by their coding keys, for the parameters or columns of these names.
final class RowEncoder: Encoder {
    private(set) var values: [(name: String, value: (any ColumnEncodable)?)] = []
    /// Whether it is a type with keys at all.
    private var hasKeys = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The values of `value`, in the order in which it encodes them.
    ///
    /// - Throws: ``DatabaseError`` for something inside that is more than one value; what `value` throws.
    static func values(of value: some Encodable) throws -> [(name: String, value: (any ColumnEncodable)?)] {
        let encoder = RowEncoder()
        do {
            try value.encode(to: encoder)
        } catch is EncodingError {
            // It has the value in it.
            throw DatabaseError(.mismatch, "\(type(of: value)) has a value that cannot be stored")
        }
        guard encoder.hasKeys else { throw DatabaseError.severalValues(nil) }
        return encoder.values
    }

    fileprivate func add(_ value: (any ColumnEncodable)?, _ key: any CodingKey) {
        values.append((key.stringValue, value))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        hasKeys = true
        return KeyedEncodingContainer(RowEncodingContainer(encoder: self))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnsupportedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { UnsupportedContainer() }
}

/// Takes one value after the other.
private struct RowEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RowEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.add(nil, key) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        encoder.add(try ValueEncoder.value(of: value, key.stringValue), key)
    }

    // Nil is left out unless each of these is written down.
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }

    private func put(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(NoKeyedContainer(name: key.stringValue))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        UnsupportedContainer(name: key.stringValue)
    }
    /// A class and the one that it inherits from share the row.
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { NoEncoder(name: key.stringValue) }
}

/// Takes the one value of a type that is one: an enumeration with raw values, or a wrapper.
private final class ValueEncoder: Encoder, SingleValueEncodingContainer {
    private let name: String
    private var value: (any ColumnEncodable)?
    private var hasValue = false
    /// Whether it asked for a place for several values.
    private var isArrayOrHasKeys = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(name: String) {
        self.name = name
    }

    static func value(of value: some Encodable, _ name: String) throws -> (any ColumnEncodable)? {
        if let value = value as? any ColumnEncodable { return value }
        let encoder = ValueEncoder(name: name)
        do {
            try value.encode(to: encoder)
            if encoder.hasValue { return encoder.value }
        } catch  where encoder.isArrayOrHasKeys {
            // Its containers take nothing.
        }
        return try JSONText(value)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        isArrayOrHasKeys = true
        return KeyedEncodingContainer(NoKeyedContainer(name: name))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isArrayOrHasKeys = true
        return UnsupportedContainer(name: name)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { hasValue = true }
    func encode<Value: Encodable>(_ value: Value) throws {
        self.value = try ValueEncoder.value(of: value, name)
        hasValue = true
    }
}

/// Stands where a type wants to put several values into one column, and says so when it does.
struct UnsupportedContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    /// The coding key of the value; nil for the whole row.
    var name: String?
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    private var error: DatabaseError { .severalValues(name) }

    func encodeNil() throws { throw error }
    func encode<Value: Encodable>(_ value: Value) throws { throw error }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(NoKeyedContainer(name: name))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { NoEncoder(name: name) }
}

/// As ``UnsupportedContainer``, for a type with keys.
struct NoKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let name: String?
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw DatabaseError.severalValues(name) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw DatabaseError.severalValues(name) }
    func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(NoKeyedContainer<Nested>(name: name))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { UnsupportedContainer(name: name) }
    func superEncoder() -> any Encoder { NoEncoder(name: name) }
    func superEncoder(forKey key: Key) -> any Encoder { NoEncoder(name: name) }
}

/// As ``UnsupportedContainer``, for what asks for an encoder.
struct NoEncoder: Encoder {
    let name: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(NoKeyedContainer(name: name))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnsupportedContainer(name: name) }
    func singleValueContainer() -> any SingleValueEncodingContainer { UnsupportedContainer(name: name) }
}

extension DatabaseError {
    static func severalValues(_ name: String?) -> DatabaseError {
        guard let name else { return DatabaseError(.mismatch, "a row must be a type with coding keys") }
        return DatabaseError(.mismatch, "\(name) is not a single SQLite value; use a JSONColumn")
    }
}
