#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ResultSet {
    /// The value in a column, as the type that is asked for: `let name: String = try rows["name"]`.
    ///
    /// - Throws: ``DatabaseError`` for a name that is not there, and for a value of another kind; NULL is nil in an
    ///   optional, and an error in anything else.
    public subscript<Value: ColumnDecodable>(name: String) -> Value {
        get throws { try Value.decode(column(columnIndex(forName: name))) }
    }

    /// The value in a column counted from 0, as the type that is asked for.
    ///
    /// - Throws: as by name.
    public subscript<Value: ColumnDecodable>(index: Int) -> Value {
        get throws { try Value.decode(column(index)) }
    }

    /// The integer in a column; nil for NULL.
    public func int(forColumn name: String) throws -> Int? { try self[name] }
    /// The integer in a column counted from 0; nil for NULL.
    public func int(forColumnIndex index: Int) throws -> Int? { try self[index] }

    /// Whether the number in a column is not 0; nil for NULL.
    public func bool(forColumn name: String) throws -> Bool? { try self[name] }
    /// Whether the number in a column counted from 0 is not 0; nil for NULL.
    public func bool(forColumnIndex index: Int) throws -> Bool? { try self[index] }

    /// The number in a column; nil for NULL.
    public func double(forColumn name: String) throws -> Double? { try self[name] }
    /// The number in a column counted from 0; nil for NULL.
    public func double(forColumnIndex index: Int) throws -> Double? { try self[index] }

    /// The text in a column, or a number as text; nil for NULL.
    public func string(forColumn name: String) throws -> String? { try self[name] }
    /// The text in a column counted from 0, or a number as text; nil for NULL.
    public func string(forColumnIndex index: Int) throws -> String? { try self[index] }

    /// The bytes in a column; nil for NULL, empty for an empty blob.
    public func data(forColumn name: String) throws -> Data? { try self[name] }
    /// The bytes in a column counted from 0; nil for NULL, empty for an empty blob.
    public func data(forColumnIndex index: Int) throws -> Data? { try self[index] }

    /// The date in a column, stored as seconds since 1970; nil for NULL.
    public func date(forColumn name: String) throws -> Date? { try self[name] }
    /// The date in a column counted from 0, stored as seconds since 1970; nil for NULL.
    public func date(forColumnIndex index: Int) throws -> Date? { try self[index] }

    /// Whether a column holds NULL.
    public func columnIsNull(_ name: String) throws -> Bool {
        try column(columnIndex(forName: name)).storageClass == .null
    }
    /// Whether a column counted from 0 holds NULL.
    public func columnIndexIsNull(_ index: Int) throws -> Bool {
        try column(index).storageClass == .null
    }
}
