#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type that can be read from a column.
public protocol ColumnDecodable: RowDecodable {
    /// The value in `column`. Throws where what is stored there is not of this type; `column` makes the error.
    static func decode(_ column: ResultColumn) throws -> Self

    /// The value in `column`; nil for NULL, and for what else the type takes for no value. Throws as ``decode(_:)``.
    static func decodeIfPresent(_ column: ResultColumn) throws -> Self?
}

extension ColumnDecodable {
    /// The value in `column`; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> Self? {
        let stored = try column.borrow()
        return stored.storageClass == .null ? nil : try decode(column)
    }
}

/// A column of the current row. Each read is a call of its own: after ``ResultSet/next()`` it is the column of the new row.
public struct ResultColumn {
    @usableFromInline let source: RowSource
    /// Counted from 0.
    public let index: Int
    /// That of the statement in which the row is; below 0 for a ``KeptRow``.
    @usableFromInline let execution: Int

    @inlinable init(statement: RowSource, index: Int, execution: Int) {
        source = statement
        self.index = index
        self.execution = execution
    }

    init(_ row: KeptRow, index: Int) {
        source = row
        self.index = index
        execution = -1
    }

    /// Another column of the same row.
    @inline(__always) func at(_ index: Int) -> ResultColumn { ResultColumn(self, index: index) }

    @inline(__always) private init(_ other: ResultColumn, index: Int) {
        source = other.source
        self.index = index
        execution = other.execution
    }

    // Both hold because only the initialisers set the source, each with its kind of execution.
    @inline(__always) private var statement: PreparedStatement { unsafeDowncast(source, to: PreparedStatement.self) }
    @inline(__always) private var kept: KeptRow? {
        execution < 0 ? unsafeDowncast(source, to: KeptRow.self) : nil
    }

    var sql: String { kept?.sql ?? statement.sql }

    /// Nil for a row that was kept.
    var connection: Connection? { kept == nil ? statement.connection : nil }

    /// Whether the row may be read: within the call that decodes it, and on its thread.
    @inline(__always) var isMine: Bool { execution < 0 || statement.isMine }

    /// The column's name in the result; empty where the row must not be read, as on another thread.
    public var name: String {
        if let kept { return kept.names.all.indices.contains(index) ? kept.names.all[index] : "" }
        guard let stay = statement.enterIfFree() else { return "" }
        defer { statement.leave(stay) }
        return statement.hasColumn(index, of: execution) ? statement.columnName(index) : ""
    }

    /// How SQLite stores this value.
    ///
    /// - Throws: ``DatabaseError`` where the result set is over or has no such column, and on a thread that must not read it.
    public var storageClass: StorageClass { get throws { try borrow().storageClass } }

    /// What the engine has there.
    @inline(__always) func borrow() throws -> BorrowedValue {
        if let kept { return try kept.borrow(index) }
        return try statement.borrow(index, of: execution)
    }

    /// The settings of the database.
    var storage: ValueStorage {
        get throws {
            if let kept { return kept.storage }
            let stay = try statement.enter()
            defer { statement.leave(stay) }
            return statement.storage
        }
    }

    /// The value as it is stored.
    public var value: DatabaseValue {
        get throws {
            let stored = try borrow()
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
    @inline(never) public func mismatch<Wanted>(_ type: Wanted.Type) -> DatabaseError {
        wrong("\(kind), not \(type)")
    }

    /// The error for a value of the right kind that `type` does not have, such as the raw value of no case. It never names the value.
    func noValue<Wanted>(of type: Wanted.Type) -> DatabaseError {
        wrong("\(kind) that is not a \(type is any RawRepresentable.Type ? "case of " : "")\(type)")
    }

    /// The error for a number that is no `type` because of its size or its fraction.
    @inline(never) fileprivate func noInteger<Wanted>(of type: Wanted.Type) -> DatabaseError {
        guard let number = try? borrow().real else { return mismatch(type) }
        return wrong(
            number == number.rounded() ? "\(kind) out of \(type)'s range" : "real with a fraction, not \(type)"
        )
    }

    /// The storage class, for a message.
    private var kind: String { (try? storageClass.rawValue) ?? "what cannot be read any more" }

    /// The error for a column that holds `what`, which never has the value in it.
    func wrong(_ what: String) -> DatabaseError {
        DatabaseError(.mismatch, "column \(index) (\(name)) holds \(what)", sql: sql)
    }
}

extension DatabaseValue: ColumnDecodable {
    /// The value as it is stored.
    public static func decode(_ column: ResultColumn) throws -> DatabaseValue { try column.value }
}

extension ColumnDecodable where Self: FixedWidthInteger {
    /// An integer that fits, or a real number without a fraction.
    public static func decode(_ column: ResultColumn) throws -> Self {
        let stored = try column.borrow()
        switch stored.storageClass {
        case .integer:
            if let value = Self(exactly: stored.integer) { return value }
        case .real:
            if let value = Self(exactly: stored.real) { return value }
        default: throw column.mismatch(Self.self)
        }
        throw column.noInteger(of: Self.self)
    }
}

/// A type that is read in one look at the column, also where it may be NULL.
protocol PlainValue: ColumnDecodable {
    static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> Self
}

extension PlainValue {
    @inline(__always) static func valueIfPresent(_ column: ResultColumn) throws -> Self? {
        let stored = try column.borrow()
        return stored.storageClass == .null ? nil : try value(stored, column)
    }
}

extension Int: ColumnDecodable, PlainValue {
    /// An integer, or a real number without a fraction.
    public static func decode(_ column: ResultColumn) throws -> Int { try value(column.borrow(), column) }

    /// As ``decode(_:)``; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> Int? { try valueIfPresent(column) }

    @inline(__always) static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> Int {
        switch stored.storageClass {
        case .integer: return Int(stored.integer)
        case .real:
            if let value = Int(exactly: stored.real) { return value }
            throw column.noInteger(of: Int.self)
        default: throw column.mismatch(Int.self)
        }
    }
}

extension Int64: ColumnDecodable, PlainValue {
    /// An integer, or a real number without a fraction.
    public static func decode(_ column: ResultColumn) throws -> Int64 { try value(column.borrow(), column) }

    /// As ``decode(_:)``; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> Int64? { try valueIfPresent(column) }

    @inline(__always) static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> Int64 {
        switch stored.storageClass {
        case .integer: return stored.integer
        case .real:
            if let value = Int64(exactly: stored.real) { return value }
            throw column.noInteger(of: Int64.self)
        default: throw column.mismatch(Int64.self)
        }
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

extension Bool: ColumnDecodable, PlainValue {
    /// False for 0, true for any other number.
    public static func decode(_ column: ResultColumn) throws -> Bool { try value(column.borrow(), column) }

    /// As ``decode(_:)``; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> Bool? { try valueIfPresent(column) }

    @inline(__always) static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> Bool {
        switch stored.storageClass {
        case .integer: return stored.integer != 0
        case .real: return stored.real != 0
        default: throw column.mismatch(Bool.self)
        }
    }
}

extension Double: ColumnDecodable, PlainValue {
    /// A real number, or an integer.
    public static func decode(_ column: ResultColumn) throws -> Double { try value(column.borrow(), column) }

    /// As ``decode(_:)``; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> Double? { try valueIfPresent(column) }

    @inline(__always) static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> Double {
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

extension String: ColumnDecodable, PlainValue {
    /// Text, or a number as SQLite writes it. Throws for a blob, and for text that is not UTF-8.
    public static func decode(_ column: ResultColumn) throws -> String { try value(column.borrow(), column) }

    /// As ``decode(_:)``; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> String? { try valueIfPresent(column) }

    @inline(__always) static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> String {
        switch stored.storageClass {
        case .text, .integer, .real:
            guard let text = stored.text else { throw column.wrong("text that is not UTF-8") }
            return text
        case .blob, .null: throw column.mismatch(String.self)
        }
    }
}

extension Data: ColumnDecodable, PlainValue {
    /// The bytes of a blob, or of a text in UTF-8; empty where there are none.
    public static func decode(_ column: ResultColumn) throws -> Data { try value(column.borrow(), column) }

    /// As ``decode(_:)``; nil for NULL.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> Data? { try valueIfPresent(column) }

    @inline(__always) static func value(_ stored: borrowing BorrowedValue, _ column: ResultColumn) throws -> Data {
        switch stored.storageClass {
        case .blob: return stored.data(isText: false)
        case .text: return stored.data(isText: true)
        default: throw column.mismatch(Data.self)
        }
    }
}

extension UUID: ColumnDecodable {
    /// A text in the form of ``Foundation/UUID/uuidString``, or a blob of its 16 bytes.
    public static func decode(_ column: ResultColumn) throws -> UUID {
        let stored = try column.borrow()
        switch stored.storageClass {
        case .text:
            guard let uuid = UUID(uuidString: try String.decode(column)) else {
                throw column.wrong("text that is no UUID")
            }
            return uuid
        case .blob:
            let bytes = stored.bytes
            guard bytes.count == 16 else { throw column.wrong("a blob of \(bytes.count) bytes, not the 16 of a UUID") }
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        case .integer, .real, .null: throw column.mismatch(UUID.self)
        }
    }
}

extension ColumnDecodable where Self: RawRepresentable, RawValue: ColumnDecodable {
    /// The value whose raw value is stored: `enum Kind: String, ColumnEncodable, ColumnDecodable`.
    public static func decode(_ column: ResultColumn) throws -> Self {
        guard let value = Self(rawValue: try RawValue.decode(column)) else { throw column.noValue(of: Self.self) }
        return value
    }
}

extension Optional: RowDecodable where Wrapped: ColumnDecodable {}

extension Optional: ColumnDecodable where Wrapped: ColumnDecodable {
    /// Nil for NULL.
    public static func decode(_ column: ResultColumn) throws -> Wrapped? { try Wrapped.decodeIfPresent(column) }
}
