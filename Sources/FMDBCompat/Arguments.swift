internal import CipherDB
internal import Foundation

/// Values as FMDB takes them: of any type, with NSNull or nil for NULL.
enum Arguments {
    /// - Throws: `DatabaseError` for a value of a type that SQLite has no place for. FMDB would store its description.
    static func bindable(_ value: Any) throws -> (any ColumnEncodable)? {
        // Asking for the type first is many times faster than the casts below.
        if let value = common(value) { return value }
        // Before anything else: an optional in an Any may be any of the types below.
        if case Optional<Any>.none = value { return nil }
        switch value {
        case is NSNull: return nil
        // A number from Objective-C's world is cast to any of Swift's; its own type says which it was.
        case let number as NSNumber where !(value is any ColumnEncodable): return self.number(number)
        case let value as UInt64: return Int64(bitPattern: value)
        case let value as UInt: return Int64(bitPattern: UInt64(value))
        case let value as Decimal: return number(NSDecimalNumber(decimal: value))
        case let value as any ColumnEncodable: return value
        case let value as CGFloat: return Double(value)
        case let value as any RawRepresentable: return try bindable(value.rawValue)
        case let text as NSString: return String(describing: text)
        case let data as NSData: return Data(referencing: data)
        case let date as NSDate: return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let uuid as NSUUID: return uuid.uuidString
        default:
            throw DatabaseError(
                code: .mismatch,
                message: "a value of the type \(type(of: value)) cannot be bound; give its text or bytes"
            )
        }
    }

    /// A value of one of the types that are bound most.
    private static func common(_ value: Any) -> (any ColumnEncodable)? {
        let type = type(of: value)
        if type == String.self { return opened(value, as: String.self) }
        if type == Int.self { return opened(value, as: Int.self) }
        if type == Double.self { return opened(value, as: Double.self) }
        if type == Data.self { return opened(value, as: Data.self) }
        if type == Int64.self { return opened(value, as: Int64.self) }
        if type == Bool.self { return opened(value, as: Bool.self) }
        return nil
    }

    /// The value, whose type is known to be `type`.
    private static func opened<Value>(_ value: Any, as type: Value.Type) -> Value? {
        func open<Found>(_ value: Found) -> Value? {
            // What is in an `Any` may be another one, with the value in it.
            guard Found.self == Value.self else { return value as? Value }
            // Safe because the types are the same; a cast would look for that once more.
            return unsafeBitCast(value, to: Value.self)
        }
        return _openExistential(value, do: open)
    }

    static func list(_ values: [Any]?) throws -> StatementValues {
        StatementValues(try (values ?? []).map(bindable))
    }

    /// As in FMDB, names that the statement does not have do not matter.
    static func dictionary(_ values: [AnyHashable: Any]?) throws -> StatementValues {
        var result: [String: (any ColumnEncodable)?] = [:]
        for (name, value) in values ?? [:] { result["\(name.base)"] = .some(try bindable(value)) }
        return .lenient(result)
    }

    private static func number(_ number: NSNumber) -> any ColumnEncodable {
        // On Linux its `doubleValue` is not always the nearest: 3.33 would be 3.3299999999999996.
        if let decimal = number as? NSDecimalNumber { return Double(decimal.description) ?? decimal.doubleValue }
        return switch String(cString: number.objCType) {
        case "d", "f": number.doubleValue
        // As FMDB does: above Int64.max it comes back by unsignedLongLongInt only.
        default: number.int64Value
        }
    }
}

/// SQL with its values in it, which are bound: `"INSERT INTO t VALUES (\(name))"`. A literal makes it; text in a variable does not.
public struct FMFormat: ExpressibleByStringInterpolation {
    let sql: String
    let values: [Any]

    /// SQL without values.
    public init(stringLiteral sql: StaticString) {
        self.sql = sql.description
        values = []
    }

    /// SQL with values.
    public init(stringInterpolation pieces: StringInterpolation) {
        sql = pieces.sql
        values = pieces.values
    }

    /// The pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = ""
        fileprivate var values: [Any] = []

        /// Makes room.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + interpolationCount)
        }

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: StaticString) { sql += literal.description }

        /// Adds a value, to be bound; nil is NULL.
        public mutating func appendInterpolation(_ value: Any?) {
            values.append(value as Any)
            sql += "?"
        }
    }
}
