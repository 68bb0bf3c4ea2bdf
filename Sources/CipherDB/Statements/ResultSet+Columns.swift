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
    @inlinable public subscript<Value: ColumnDecodable>(name: String) -> Value {
        get throws {
            let (index, stay) = try enter(findingColumn: name)
            defer { leave(stay) }
            return try Value.decode(column(index))
        }
    }

    /// The value in a column, whichever table it is of, as the type that is asked for.
    ///
    /// - Throws: as by name.
    public subscript<Value: ColumnDecodable>(column: Column) -> Value {
        get throws { try self[column.name] }
    }

    /// The value in a column counted from 0, as the type that is asked for.
    ///
    /// - Throws: as by name.
    @inlinable public subscript<Value: ColumnDecodable>(index: Int) -> Value {
        get throws {
            try Value.decode(column(index))
        }
    }

    /// The integer in a column; nil for NULL.
    public func int(forColumn name: String) throws -> Int? { try self[name] }
    /// The integer in a column counted from 0; nil for NULL.
    public func int(forColumnIndex index: Int) throws -> Int? { try self[index] }

    /// The integer in a column, as `Int64`; nil for NULL.
    public func int64(forColumn name: String) throws -> Int64? { try self[name] }
    /// The integer in a column counted from 0, as `Int64`; nil for NULL.
    public func int64(forColumnIndex index: Int) throws -> Int64? { try self[index] }

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

    /// The date in a column, as text or as seconds since 1970 (``DateFormat``); nil for NULL.
    public func date(forColumn name: String) throws -> Date? { try self[name] }
    /// The date in a column counted from 0, as text or as seconds since 1970; nil for NULL.
    public func date(forColumnIndex index: Int) throws -> Date? { try self[index] }

    /// How the value in a column is stored.
    public func type(forColumn name: String) throws -> StorageClass {
        try type(forColumnIndex: columnIndex(forName: name))
    }
    /// How the value in a column counted from 0 is stored.
    public func type(forColumnIndex index: Int) throws -> StorageClass {
        try column(index).storageClass
    }

    /// The current row by the columns' names. Of two columns with one name the first is in it.
    ///
    /// - Throws: ``DatabaseError`` where there is no current row.
    public var resultDictionary: [String: DatabaseValue] {
        get throws {
            let stay = try enter()
            defer { leave(stay) }
            guard rowWidth > 0 else { throw whyNoColumn(0) }
            let values = try (0..<columnCount).map { try column($0).value }
            let names = names
            let pairs = zip(names.all, values).lazy.filter {
                !names.hasRecords || !$0.0.hasSuffix(ColumnNames.recordMark)
            }
            return Dictionary(pairs) { first, _ in first }
        }
    }

    /// Hands the bytes of a blob or text in a column to `body`, without a copy; no bytes for NULL and for an empty one.
    /// They are good until `body` returns: in it ``next()`` throws, and a database that it closes is closed afterwards.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` for a name that is not there, and for a number.
    @inlinable public func withBytes<Result>(
        forColumn name: String,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let stay = try enter()
        defer { leave(stay) }
        return try withBytes(forColumnIndex: columnIndex(forName: name), body)
    }
    /// As ``withBytes(forColumn:_:)``, by the column's index, counted from 0.
    @inlinable public func withBytes<Result>(
        forColumnIndex index: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let (bytes, stay, isLoan) = try enter(readingColumn: index)
        defer { leave(stay, endingLoan: isLoan) }
        return try withExtendedLifetime(self) { try body(bytes) }
    }

    /// Begins a call that reads a column by its name.
    @usableFromInline func enter(findingColumn name: String) throws -> (index: Int, Turn.Stay) {
        let stay = try enter()
        if let index = names.index(ofKey: name) { return (index, stay) }
        defer { leave(stay) }
        throw whyNoColumn(name)
    }

    /// Begins a call, in which the bytes are good.
    @usableFromInline func enter(
        readingColumn index: Int
    ) throws -> (bytes: UnsafeRawBufferPointer, stay: Turn.Stay, isLoan: Bool) {
        let stay = try enter()
        if prepared.hasColumn(index, of: execution), let bytes = storedBytes(index) {
            return (bytes, stay, prepared.lend())
        }
        throw leaving(stay, withoutBytesOf: column(index))
    }

    // Apart, so that reading bytes is short.
    @inline(never) private func leaving(_ stay: Turn.Stay, withoutBytesOf column: ResultColumn) -> any Error {
        defer { leave(stay) }
        do {
            _ = try column.storageClass
            return column.mismatch(UnsafeRawBufferPointer.self)
        } catch {
            return error
        }
    }

    /// Those of a blob, a text or NULL; nil for a number.
    @inline(__always) private func storedBytes(_ index: Int) -> UnsafeRawBufferPointer? {
        let stored = prepared.value(index)
        switch stored.storageClass {
        case .blob, .null: return stored.bytes(isText: false)
        case .text: return stored.bytes(isText: true)
        case .integer, .real: return nil
        }
    }

    @usableFromInline func leave(_ stay: Turn.Stay, endingLoan isLoan: Bool) {
        if isLoan { prepared.endLoan() }
        leave(stay)
    }

    /// A column of the current row, which is looked for when it is read.
    @inlinable @inline(__always) func column(_ index: Int) -> ResultColumn {
        ResultColumn(statement: source, index: index, execution: execution)
    }

    /// Whether a column holds NULL.
    public func columnIsNull(_ name: String) throws -> Bool {
        try type(forColumn: name) == .null
    }
    /// Whether a column counted from 0 holds NULL.
    public func columnIndexIsNull(_ index: Int) throws -> Bool {
        try type(forColumnIndex: index) == .null
    }
}

/// A column of the current row, read by SQLite's own conversions, which never fail: FMDB's way.
package struct RawColumn {
    /// Good until the next row. It counts no reference.
    fileprivate let stored: EngineValue

    package var type: StorageClass { stored.storageClass }
    package var integer: Int64 { stored.integer }
    package var real: Double { stored.real }
    /// Nil for NULL and for bytes that are not UTF-8.
    package var text: String? { stored.text }
    /// Ended by a NUL, and good until the next row.
    package var utf8: UnsafePointer<UInt8>? { stored.utf8 }
    /// Nil for NULL only.
    package var bytes: Data? { type == .null ? nil : stored.data }
}

extension ResultSet {
    /// Nil where there is no current row, or no such column. The caller has the database's turn.
    package func rawColumn(_ index: Int) -> RawColumn? {
        prepared.hasColumn(index, of: execution) ? RawColumn(stored: prepared.value(index)) : nil
    }
}
