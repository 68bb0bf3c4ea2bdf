#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type that can be read from a column.
public protocol ColumnDecodable: RowDecodable {
    /// The value in `column`. Throws where what is stored there is not of this type; `column` makes the error.
    static func decode(_ column: ResultColumn) throws -> Self
}

/// A column of the current row.
public struct ResultColumn {
    @usableFromInline let statement: PreparedStatement
    /// Counted from 0.
    public let index: Int

    @inlinable init(statement: PreparedStatement, index: Int) {
        self.statement = statement
        self.index = index
    }

    /// The column's name in the result; empty where the row must not be read, as on another thread.
    public var name: String { statement.turn.isMine ? statement.columnName(index) : "" }

    /// How SQLite stores this value; NULL where the row must not be read, as on another thread.
    public var storageClass: StorageClass { (try? stored)?.storageClass ?? .null }

    /// What the engine has there. A column is read within the call that reads its row.
    var stored: EngineValue {
        @inline(__always) get throws {
            guard statement.turn.isMine else { throw Turn.refusalOfColumn }
            return statement.value(index)
        }
    }

    /// The value as it is stored.
    public var value: DatabaseValue {
        get throws {
            let stored = try stored
            return switch stored.storageClass {
            case .null: .null
            case .integer: .integer(stored.integer)
            case .real: .real(stored.real)
            case .text: .text(try String.decode(self))
            case .blob: .blob(try Data.decode(self))
            }
        }
    }

    /// The error for a value that is not of `type`. It names the column and the kind of value, never the value.
    public func mismatch<Wanted>(_ type: Wanted.Type) -> DatabaseError {
        DatabaseError(
            .mismatch,
            "column \(index) (\(name)) holds \(storageClass.rawValue), not \(type)",
            sql: statement.sql
        )
    }

    /// The error for a value of the right kind that `type` does not have, such as the raw value of no case. It never names the value.
    func noValue<Wanted>(of type: Wanted.Type) -> DatabaseError {
        DatabaseError(
            .mismatch,
            "column \(index) (\(name)) holds \(storageClass.rawValue) that is not a \(type is any RawRepresentable.Type ? "case of " : "")\(type)",
            sql: statement.sql
        )
    }
}

extension DatabaseValue: ColumnDecodable {
    /// The value as it is stored.
    public static func decode(_ column: ResultColumn) throws -> DatabaseValue { try column.value }
}

extension ColumnDecodable where Self: FixedWidthInteger {
    /// An integer that fits, or a real number without a fraction.
    public static func decode(_ column: ResultColumn) throws -> Self {
        let stored = try column.stored
        switch stored.storageClass {
        case .integer:
            if let value = Self(exactly: stored.integer) { return value }
        case .real:
            if let value = Self(exactly: stored.real) { return value }
        default: break
        }
        throw column.mismatch(Self.self)
    }
}

extension Int: ColumnDecodable {
    /// An integer, or a real number without a fraction.
    public static func decode(_ column: ResultColumn) throws -> Int {
        let stored = try column.stored
        switch stored.storageClass {
        case .integer: return Int(stored.integer)
        case .real:
            if let value = Int(exactly: stored.real) { return value }
        default: break
        }
        throw column.mismatch(Int.self)
    }
}

extension Int64: ColumnDecodable {
    /// An integer, or a real number without a fraction.
    public static func decode(_ column: ResultColumn) throws -> Int64 {
        let stored = try column.stored
        switch stored.storageClass {
        case .integer: return stored.integer
        case .real:
            if let value = Int64(exactly: stored.real) { return value }
        default: break
        }
        throw column.mismatch(Int64.self)
    }
}

extension Int8: ColumnDecodable {}
extension Int16: ColumnDecodable {}
extension Int32: ColumnDecodable {}
extension UInt: ColumnDecodable {}
extension UInt8: ColumnDecodable {}
extension UInt16: ColumnDecodable {}
extension UInt32: ColumnDecodable {}
extension UInt64: ColumnDecodable {}

extension Bool: ColumnDecodable {
    /// False for 0, true for any other number.
    public static func decode(_ column: ResultColumn) throws -> Bool {
        let stored = try column.stored
        switch stored.storageClass {
        case .integer: return stored.integer != 0
        case .real: return stored.real != 0
        default: throw column.mismatch(Bool.self)
        }
    }
}

extension Double: ColumnDecodable {
    /// A real number, or an integer.
    public static func decode(_ column: ResultColumn) throws -> Double {
        let stored = try column.stored
        switch stored.storageClass {
        case .real, .integer: return stored.real
        default: throw column.mismatch(Double.self)
        }
    }
}

extension Float: ColumnDecodable {
    /// The nearest to a real number or an integer.
    public static func decode(_ column: ResultColumn) throws -> Float { Float(try Double.decode(column)) }
}

extension String: ColumnDecodable {
    /// Text, or a number as SQLite writes it. Throws for a blob, and for text that is not UTF-8.
    public static func decode(_ column: ResultColumn) throws -> String {
        let stored = try column.stored
        switch stored.storageClass {
        case .text, .integer, .real:
            guard let text = stored.text else { throw column.mismatch(String.self) }
            return text
        case .blob, .null: throw column.mismatch(String.self)
        }
    }
}

extension Data: ColumnDecodable {
    /// The bytes of a blob, or of a text in UTF-8; empty where there are none.
    public static func decode(_ column: ResultColumn) throws -> Data {
        let stored = try column.stored
        switch stored.storageClass {
        case .blob, .text: return stored.data
        default: throw column.mismatch(Data.self)
        }
    }
}

extension [UInt8]: RowDecodable {}

extension [UInt8]: ColumnDecodable {
    /// The bytes of a blob, or of a text in UTF-8; empty where there are none.
    public static func decode(_ column: ResultColumn) throws -> [UInt8] {
        let stored = try column.stored
        switch stored.storageClass {
        case .blob, .text: return [UInt8](stored.bytes)
        default: throw column.mismatch([UInt8].self)
        }
    }
}

extension UUID: ColumnDecodable {
    /// A text in the form of ``Foundation/UUID/uuidString``, or a blob of its 16 bytes.
    public static func decode(_ column: ResultColumn) throws -> UUID {
        let stored = try column.stored
        switch stored.storageClass {
        case .text:
            if let uuid = UUID(uuidString: try String.decode(column)) { return uuid }
        case .blob:
            let bytes = stored.bytes
            if bytes.count == 16 { return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
        case .integer, .real, .null: break
        }
        throw column.mismatch(UUID.self)
    }
}

extension ColumnDecodable where Self: RawRepresentable, RawValue: ColumnDecodable {
    /// The value whose raw value is stored: `enum Kind: String, Bindable, ColumnDecodable`.
    public static func decode(_ column: ResultColumn) throws -> Self {
        guard let value = Self(rawValue: try RawValue.decode(column)) else { throw column.noValue(of: Self.self) }
        return value
    }
}

extension Optional: RowDecodable where Wrapped: ColumnDecodable {}

extension Optional: ColumnDecodable where Wrapped: ColumnDecodable {
    /// Nil for NULL.
    public static func decode(_ column: ResultColumn) throws -> Wrapped? {
        column.storageClass == .null ? nil : try Wrapped.decode(column)
    }
}
