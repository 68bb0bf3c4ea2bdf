#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A column of the current row, read by SQLite's own conversions, which never fail: FMDB's way.
package struct RawColumn {
    private let statement: PreparedStatement
    private let index: Int

    fileprivate init(_ column: Column) {
        statement = column.statement
        index = column.index
    }

    package var type: StorageClass { statement.storageClass(index) }
    package var integer: Int64 { statement.integer(index) }
    package var real: Double { statement.real(index) }
    /// Nil for NULL and for bytes that are not UTF-8.
    package var text: String? { statement.text(index) }
    /// Ended by a NUL, and good until the next row.
    package var utf8: UnsafePointer<UInt8>? { statement.utf8(index) }
    /// Nil for NULL only.
    package var bytes: Data? { type == .null ? nil : statement.withBytes(index) { Data($0) } }
}

extension ResultSet {
    package func rawColumn(_ index: Int) throws -> RawColumn {
        RawColumn(try column(index))
    }
}
