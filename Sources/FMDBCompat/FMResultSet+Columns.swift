internal import CipherDB
public import Foundation

extension FMResultSet {
    /// The integer in a column, cut to 32 bits; 0 for what is no number.
    public func int(forColumn columnName: String) -> Int32 { int(forColumnIndex: columnIndex(forName: columnName)) }
    /// The integer in a column, cut to 32 bits; 0 for what is no number.
    public func int(forColumnIndex columnIdx: Int32) -> Int32 {
        Int32(truncatingIfNeeded: longLongInt(forColumnIndex: columnIdx))
    }

    /// The integer in a column; 0 for what is no number.
    public func long(forColumn columnName: String) -> Int { long(forColumnIndex: columnIndex(forName: columnName)) }
    /// The integer in a column; 0 for what is no number.
    public func long(forColumnIndex columnIdx: Int32) -> Int { Int(longLongInt(forColumnIndex: columnIdx)) }

    /// The integer in a column; 0 for what is no number.
    public func longLongInt(forColumn columnName: String) -> Int64 {
        longLongInt(forColumnIndex: columnIndex(forName: columnName))
    }
    /// The integer in a column; 0 for what is no number.
    public func longLongInt(forColumnIndex columnIdx: Int32) -> Int64 { raw(columnIdx) { $0.integer } ?? 0 }

    /// The bits of the integer in a column without its sign, as a `UInt64` was bound.
    public func unsignedLongLongInt(forColumn columnName: String) -> UInt64 {
        unsignedLongLongInt(forColumnIndex: columnIndex(forName: columnName))
    }
    /// The bits of the integer in a column without its sign, as a `UInt64` was bound.
    public func unsignedLongLongInt(forColumnIndex columnIdx: Int32) -> UInt64 {
        UInt64(bitPattern: longLongInt(forColumnIndex: columnIdx))
    }

    /// Whether the integer in a column is not 0.
    public func bool(forColumn columnName: String) -> Bool { bool(forColumnIndex: columnIndex(forName: columnName)) }
    /// Whether the integer in a column is not 0.
    public func bool(forColumnIndex columnIdx: Int32) -> Bool { longLongInt(forColumnIndex: columnIdx) != 0 }

    /// The number in a column; 0 for what is none.
    public func double(forColumn columnName: String) -> Double {
        double(forColumnIndex: columnIndex(forName: columnName))
    }
    /// The number in a column; 0 for what is none.
    public func double(forColumnIndex columnIdx: Int32) -> Double { raw(columnIdx) { $0.real } ?? 0 }

    /// The text in a column, or a number as text; nil for NULL.
    public func string(forColumn columnName: String) -> String? {
        string(forColumnIndex: columnIndex(forName: columnName))
    }
    /// The text in a column, or a number as text; nil for NULL.
    public func string(forColumnIndex columnIdx: Int32) -> String? { raw(columnIdx) { $0.text } }

    /// The text in a column as C has it, good until the next row; nil for NULL.
    public func utf8String(forColumn columnName: String) -> UnsafePointer<UInt8>? {
        utf8String(forColumnIndex: columnIndex(forName: columnName))
    }
    /// The text in a column as C has it, good until the next row; nil for NULL.
    public func utf8String(forColumnIndex columnIdx: Int32) -> UnsafePointer<UInt8>? { raw(columnIdx) { $0.utf8 } }

    /// The date in a column: text by the database's formatter, or seconds since 1970; nil for NULL.
    public func date(forColumn columnName: String) -> Date? { date(forColumnIndex: columnIndex(forName: columnName)) }
    /// The date in a column: text by the database's formatter, or seconds since 1970; nil for NULL.
    public func date(forColumnIndex columnIdx: Int32) -> Date? {
        guard let parentDB, let stay = parentDB.turn.enterIfFree() else { return nil }
        defer { parentDB.turn.leave(stay) }
        guard !columnIndexIsNull(columnIdx) else { return nil }
        if let formatter = parentDB.dateFormatter { return string(forColumnIndex: columnIdx).flatMap(formatter.date) }
        return Date(timeIntervalSince1970: double(forColumnIndex: columnIdx))
    }

    /// The bytes in a column; nil for NULL, empty for an empty blob.
    public func data(forColumn columnName: String) -> Data? { data(forColumnIndex: columnIndex(forName: columnName)) }
    /// The bytes in a column; nil for NULL, empty for an empty blob.
    public func data(forColumnIndex columnIdx: Int32) -> Data? { raw(columnIdx) { $0.bytes } }

    /// The bytes in a column. FMDB's point into SQLite's memory and dangle after the row; these are a copy.
    public func dataNoCopy(forColumn columnName: String) -> Data? { data(forColumn: columnName) }
    /// The bytes in a column. FMDB's point into SQLite's memory and dangle after the row; these are a copy.
    public func dataNoCopy(forColumnIndex columnIdx: Int32) -> Data? { data(forColumnIndex: columnIdx) }

    /// The value in a column: NSNumber, String, Data, or NSNull for NULL; nil where there is no such column.
    public func object(forColumn columnName: String) -> Any? {
        object(forColumnIndex: columnIndex(forName: columnName))
    }
    /// The value in a column: NSNumber, String, Data, or NSNull for NULL; nil where there is no such column.
    public func object(forColumnIndex columnIdx: Int32) -> Any? {
        raw(columnIdx) { column -> Any? in
            switch column.type {
            case .null: NSNull()
            case .integer: NSNumber(value: column.integer)
            case .real: NSNumber(value: column.real)
            case .text: column.text
            case .blob: column.bytes
            }
        }
    }
    /// As ``object(forColumn:)``.
    public subscript(columnName: String) -> Any? { object(forColumn: columnName) }
    /// As ``object(forColumnIndex:)``.
    public subscript(columnIdx: Int32) -> Any? { object(forColumnIndex: columnIdx) }

    /// How the value in a column is stored; null where there is no such column.
    public func type(forColumn columnName: String) -> SqliteValueType {
        type(forColumnIndex: columnIndex(forName: columnName))
    }
    /// How the value in a column is stored; null where there is no such column.
    public func type(forColumnIndex columnIdx: Int32) -> SqliteValueType {
        raw(columnIdx) { SqliteValueType($0.type) } ?? .null
    }

    /// Whether a column holds NULL, or is not there.
    public func columnIsNull(_ columnName: String) -> Bool { columnIndexIsNull(columnIndex(forName: columnName)) }
    /// Whether a column holds NULL, or is not there.
    public func columnIndexIsNull(_ columnIdx: Int32) -> Bool { type(forColumnIndex: columnIdx) == .null }
}
