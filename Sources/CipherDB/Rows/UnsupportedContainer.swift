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
