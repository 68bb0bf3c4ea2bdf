internal import CSQLCipher
internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value that the engine owns: a column of a statement's row, good until the next step, or an argument of a function.
///
/// Asking a statement for a column locks, each time; asking for its value does so once. That this may be read is due to
/// connections having no mutex: "there is no distinction between protected and unprotected sqlite3_value objects"
/// (sqlite.org/c3ref/value.html).
struct EngineValue {
    let pointer: OpaquePointer?

    var storageClass: StorageClass {
        switch sqlite3_value_type(pointer) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    var integer: Int64 { sqlite3_value_int64(pointer) }

    var real: Double { sqlite3_value_double(pointer) }

    /// Text, which SQLite makes of a number; nil for NULL and for bytes that are not UTF-8.
    var text: String? {
        guard let start = sqlite3_value_text(pointer) else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer)))
        // String(validating:as:) takes several times as long. What is not UTF-8 comes out as something else.
        var text = String(decoding: bytes, as: UTF8.self)
        if csqlcipher_is_ascii(start, UInt(bytes.count)) != 0 { return text }
        let isSame = text.withUTF8 {
            $0.count == bytes.count && csqlcipher_same($0.baseAddress, start, UInt(bytes.count)) != 0
        }
        return isSame ? text : nil
    }

    /// Text ended by a NUL.
    var utf8: UnsafePointer<UInt8>? { sqlite3_value_text(pointer) }

    /// The bytes of a blob, or of a text in UTF-8.
    var bytes: UnsafeRawBufferPointer { bytes(isText: storageClass == .text) }

    /// As ``bytes``, of a value whose class is known.
    @inline(__always) func bytes(isText: Bool) -> UnsafeRawBufferPointer {
        // A text of a database in UTF-16 is converted by the first, and moves then.
        let start = isText ? UnsafeRawPointer(sqlite3_value_text(pointer)) : sqlite3_value_blob(pointer)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(pointer)))
    }

    /// A copy of the bytes.
    var data: Data { data(isText: storageClass == .text) }

    /// As ``data``, of a value whose class is known.
    @inline(__always) func data(isText: Bool) -> Data {
        let bytes = bytes(isText: isText)
        // Data(bytes) takes longer.
        return bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
    }
}

/// A value of the current row, which keeps the turn of the connection: it is read to its end before another thread may step. Or a copy of
/// its own.
struct BorrowedValue: ~Copyable {
    private let value: EngineValue
    /// That of the connection, which the statement keeps; nil for a copy.
    private let uncountedTurn: Unmanaged<Turn>?
    private let stay: Turn.Stay

    @inline(__always) fileprivate init(_ value: EngineValue, of turn: Unmanaged<Turn>, _ stay: Turn.Stay) {
        self.value = value
        uncountedTurn = turn
        self.stay = stay
    }

    fileprivate init(copy: OpaquePointer) {
        value = EngineValue(pointer: copy)
        uncountedTurn = nil
        stay = .inner
    }

    @inline(__always) deinit {
        if let uncountedTurn {
            uncountedTurn._withUnsafeGuaranteedRef { $0.leave(stay) }
        } else {
            sqlite3_value_free(value.pointer)
        }
    }

    var storageClass: StorageClass { value.storageClass }
    var integer: Int64 { value.integer }
    var real: Double { value.real }
    var text: String? { value.text }
    /// Good for as long as this lives.
    var bytes: UnsafeRawBufferPointer { value.bytes }
    var data: Data { value.data }
    @inline(__always) func bytes(isText: Bool) -> UnsafeRawBufferPointer { value.bytes(isText: isText) }
    @inline(__always) func data(isText: Bool) -> Data { value.data(isText: isText) }
}

extension PreparedStatement {
    /// - Throws: ``DatabaseError`` where the row is over or has no such column, and on a thread that must not read it.
    @inline(__always) func borrow(_ column: Int, of execution: Int) throws -> BorrowedValue {
        let turn = uncountedTurn
        let stay = try turn._withUnsafeGuaranteedRef { try $0.enter() }
        guard hasColumn(column, of: execution) else { throw leaving(stay, withoutColumn: column, of: execution) }
        return BorrowedValue(value(column), of: turn, stay)
    }

    // Apart, so that reading a column is short.
    @inline(never) private func leaving(_ stay: Turn.Stay, withoutColumn column: Int, of execution: Int) -> any Error {
        defer { leave(stay) }
        return whyNoColumn(column, of: execution)
    }

    /// A column of the current row, counted from 0; NULL where there is none.
    @inline(__always) func value(_ column: Int) -> EngineValue {
        EngineValue(pointer: sqlite3_column_value(handle, Int32(column)))
    }
}

/// What has the row of a column: a statement, or a row that was kept.
@usableFromInline class RowSource {}

/// Copies of the values of a row, which need no connection.
// It is Sendable because nothing in it changes, and of the names only those are read that do not.
final class KeptRow: RowSource, @unchecked Sendable {
    let names: ColumnNames
    let sql: String
    let storage: ValueStorage
    private let values: [OpaquePointer?]
    private let owner = OwnerProcess()

    /// - Parameter statement: Stands on a row.
    init(of statement: PreparedStatement, _ names: ColumnNames) {
        self.names = names
        sql = statement.sql
        storage = statement.storage
        values = (0..<statement.rowWidth).map { sqlite3_value_dup(statement.value($0).pointer) }
    }

    deinit {
        // The heap of the engine may have been locked by another thread of the parent.
        guard owner.isCurrent else { return }
        values.forEach(sqlite3_value_free)
    }

    /// A value, which is copied again: SQLite converts the one that is asked for its text.
    ///
    /// - Throws: ``DatabaseError`` where there is no such column, or no memory; ``UsedAfterFork``.
    func borrow(_ column: Int) throws -> BorrowedValue {
        try owner.check(.database)
        guard values.indices.contains(column) else {
            throw DatabaseError(.range, "the row has no column \(column), it has \(values.count)", sql: sql)
        }
        guard let copy = sqlite3_value_dup(values[column]) else {
            throw DatabaseError(.outOfMemory, "there is no memory for a copy of column \(column)", sql: sql)
        }
        return BorrowedValue(copy: copy)
    }
}
