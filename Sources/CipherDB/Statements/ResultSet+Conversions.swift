#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A column of the current row, read by SQLite's own conversions, which never fail: FMDB's way.
package struct RawColumn {
    private let column: ResultColumn
    private var stored: EngineValue { column.stored }

    fileprivate init(_ column: ResultColumn) {
        self.column = column
    }

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
    package func rawColumn(_ index: Int) throws -> RawColumn {
        RawColumn(try column(index))
    }
}
