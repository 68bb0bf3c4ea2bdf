#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A value as SQLite stores it.
public enum DatabaseValue: Sendable, Hashable {
    /// NULL.
    case null
    /// A signed 64-bit integer.
    case integer(Int64)
    /// A 64-bit floating-point number.
    case real(Double)
    /// A string.
    case text(String)
    /// Bytes.
    case blob(Data)
}

extension DatabaseValue {
    /// Whether SQLite stores the same: texts are equal by their bytes, also where Swift's strings are by their characters.
    public static func == (left: DatabaseValue, right: DatabaseValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }

    /// By what SQLite stores.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number)
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .blob(let bytes): hasher.combine(bytes)
        }
    }
}

/// A type whose values can be bound to the parameters of a statement, and so be stored in a column.
public protocol ColumnEncodable: Sendable {
    /// The value to store. Throws where there is none, such as for an unsigned integer above `Int64.max`.
    var databaseValue: DatabaseValue { get throws }

    /// The value to store in a database with these settings; unless the type depends on them, its ``databaseValue``. Throws as that.
    func databaseValue(in storage: ValueStorage) throws -> DatabaseValue

    /// Binds the value; unless a type has a faster way, its ``databaseValue(in:)``.
    func bind(to parameter: Parameter) throws
}

extension ColumnEncodable {
    /// Its ``databaseValue``.
    public func databaseValue(in storage: ValueStorage) throws -> DatabaseValue { try databaseValue }

    /// Binds its ``databaseValue(in:)``.
    public func bind(to parameter: Parameter) throws {
        try parameter.bind(databaseValue(in: parameter.storage))
    }
}

extension DatabaseValue: ColumnEncodable {
    /// Itself.
    public var databaseValue: DatabaseValue { self }
}

extension ColumnEncodable where Self: BinaryInteger {
    /// The same integer. Throws ``DatabaseError`` with ``ResultCode/mismatch`` above `Int64.max`.
    public var databaseValue: DatabaseValue {
        get throws {
            guard let value = Int64(exactly: self) else {
                throw DatabaseError(.mismatch, "a \(Self.self) above Int64.max does not fit SQLite's integers")
            }
            return .integer(value)
        }
    }
}

extension Int: ColumnEncodable {
    /// Binds the same integer.
    @inlinable public func bind(to parameter: Parameter) throws { try parameter.bind(Int64(self)) }
}
extension Int8: ColumnEncodable {}
extension Int16: ColumnEncodable {}
extension Int32: ColumnEncodable {}
extension Int64: ColumnEncodable {
    /// Binds the same integer.
    @inlinable public func bind(to parameter: Parameter) throws { try parameter.bind(self) }
}
extension UInt: ColumnEncodable {}
extension UInt8: ColumnEncodable {}
extension UInt16: ColumnEncodable {}
extension UInt32: ColumnEncodable {}
extension UInt64: ColumnEncodable {}

extension Bool: ColumnEncodable {
    /// 1 or 0.
    public var databaseValue: DatabaseValue { .integer(self ? 1 : 0) }
    /// Binds 1 or 0.
    @inlinable public func bind(to parameter: Parameter) throws { try parameter.bind(self ? 1 as Int64 : 0) }
}

extension Double: ColumnEncodable {
    /// The same number; SQLite stores a NaN as NULL.
    public var databaseValue: DatabaseValue { .real(self) }
    /// Binds the same number.
    @inlinable public func bind(to parameter: Parameter) throws { try parameter.bind(self) }
}

extension Float: ColumnEncodable {
    /// The same number.
    public var databaseValue: DatabaseValue { .real(Double(self)) }
}

extension String: ColumnEncodable {
    /// The same text.
    public var databaseValue: DatabaseValue { .text(self) }
    /// Binds the same text.
    @inlinable public func bind(to parameter: Parameter) throws { try parameter.bind(self) }
}

extension Data: ColumnEncodable {
    /// The same bytes, also where there are none.
    public var databaseValue: DatabaseValue { .blob(self) }
    /// Binds the same bytes.
    public func bind(to parameter: Parameter) throws { try parameter.bind(data: self) }
}

extension UUID: ColumnEncodable {
    /// Its text, of 36 characters.
    public var databaseValue: DatabaseValue { .text(uuidString) }

    /// What ``ValueStorage/uuids`` makes of it.
    public func databaseValue(in storage: ValueStorage) -> DatabaseValue {
        switch storage.uuids {
        case .text: databaseValue
        case .lowercaseText: .text(uuidString.lowercased())
        case .blob: .blob(withUnsafeBytes(of: uuid) { Data($0) })
        }
    }
}

extension ColumnEncodable where Self: RawRepresentable, RawValue: ColumnEncodable {
    /// The raw value: `enum Kind: String, ColumnEncodable, ColumnDecodable`.
    public var databaseValue: DatabaseValue {
        get throws { try rawValue.databaseValue }
    }

    /// The raw value as the settings say, unless the type has a ``databaseValue`` of its own.
    public func databaseValue(in storage: ValueStorage) throws -> DatabaseValue {
        let value = try databaseValue
        // These have one form.
        if RawValue.self == String.self || RawValue.self == Int.self { return value }
        return try value == rawValue.databaseValue ? rawValue.databaseValue(in: storage) : value
    }
}

extension Optional: ColumnEncodable where Wrapped: ColumnEncodable {
    /// The wrapped value, or NULL.
    public var databaseValue: DatabaseValue {
        get throws { try self?.databaseValue ?? .null }
    }
    /// The wrapped value, or NULL.
    public func databaseValue(in storage: ValueStorage) throws -> DatabaseValue {
        try self?.databaseValue(in: storage) ?? .null
    }
    /// Binds the wrapped value, or NULL.
    @inlinable public func bind(to parameter: Parameter) throws {
        if let self { try self.bind(to: parameter) } else { try parameter.bindNull() }
    }
}

/// The kinds of value that SQLite stores (sqlite.org/datatype3.html).
public enum StorageClass: String, Sendable, Hashable {
    /// A signed 64-bit integer.
    case integer
    /// A 64-bit floating-point number.
    case real
    /// A string.
    case text
    /// Bytes.
    case blob
    /// No value.
    case null
}
