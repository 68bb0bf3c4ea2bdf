#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

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
    /// Nil where there is no current row, or no such column, and outside of the database's turn.
    package func rawColumn(_ index: Int) -> RawColumn? {
        prepared.isMine && prepared.hasColumn(index, of: execution) ? RawColumn(stored: prepared.value(index)) : nil
    }
}
