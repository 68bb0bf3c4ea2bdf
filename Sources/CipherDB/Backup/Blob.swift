#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The bytes of one blob or text in a table, read and written in pieces; its length is fixed.
///
/// To make room for a new one, insert `zeroblob(n)`. It belongs to its database, is closed when the block of a queue or
/// pool ends, and holds the locks of a reading or writing statement while it is open. On another thread each call throws.
public final class Blob {
    private let handle: BlobHandle

    init(_ handle: BlobHandle) {
        self.handle = handle
    }

    deinit {
        let handle = handle
        handle.connection.letGo { handle.close() }
    }

    private func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let turn = handle.connection.turn
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        return try body()
    }

    /// Its length in bytes.
    ///
    /// - Throws: ``DatabaseError`` where it is closed.
    public var count: Int {
        get throws { try inTurn { try handle.count } }
    }

    /// The bytes from `offset` on.
    ///
    /// - Throws: ``DatabaseError`` for a part that is not in it, and with `SQLITE_ABORT` where a statement changed the row
    ///   meanwhile.
    public func read(at offset: Int, count: Int) throws -> Data {
        try inTurn {
            try check(offset, count)
            var bytes = Data(count: count)
            try bytes.withUnsafeMutableBytes { try handle.read(into: $0, at: offset) }
            return bytes
        }
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// - Throws: as ``read(at:count:)``.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        try inTurn {
            try check(offset, buffer.count)
            try handle.read(into: buffer, at: offset)
        }
    }

    /// Overwrites the bytes from `offset` on.
    ///
    /// - Throws: as ``read(at:count:)``; also where it was opened for reading only.
    public func write(_ bytes: Data, at offset: Int) throws {
        try inTurn {
            try check(offset, bytes.count)
            try bytes.withUnsafeBytes { try handle.write($0, at: offset) }
        }
    }

    /// Goes to the same column of another row, which is faster than opening it again.
    ///
    /// - Throws: ``DatabaseError`` where the row is not there or holds something else; then it can only be closed.
    public func move(toRow row: Int64) throws {
        try inTurn { try handle.move(toRow: row) }
    }

    /// Closes it; outside of a transaction this commits what was written. Closing twice does nothing.
    ///
    /// Where a block or the blob's own end closes it, what goes wrong is thrown by the block, or the next statement.
    ///
    /// - Throws: ``DatabaseError`` where what was written could not be committed, and is lost.
    public func close() throws {
        guard !handle.connection.turn.isOfParent else { return }
        try inTurn { try handle.end() }
    }

    private func check(_ offset: Int, _ count: Int) throws {
        let size = try handle.count
        guard offset >= 0, count >= 0, count <= size, offset <= size - count else {
            throw DatabaseError(.range, "cannot access \(count) bytes at offset \(offset): the blob has \(size) bytes")
        }
    }
}

/// It belongs to its database, and goes where that goes.
@available(*, unavailable)
extension Blob: Sendable {}

extension Database {
    /// Opens the blob or text in a column of a row.
    ///
    /// - Parameters:
    ///   - table: The table; a view or virtual table has no blobs to open.
    ///   - column: The column.
    ///   - row: The row's identifier, as of ``lastInsertRowID``.
    ///   - schema: The database: `main`, `temp` or one that is attached.
    ///   - writable: Whether it can be written to; not for a column that is in an index or a foreign key.
    /// - Throws: ``DatabaseError`` where there is no such value, or it is a number or NULL; ``KeyError``.
    public func openBlob(
        inTable table: String,
        column: String,
        row: Int64,
        schema: String = "main",
        writable: Bool = false
    ) throws -> Blob {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        do {
            let connection = try usableConnection()
            guard !connection.hasLostTransaction else { throw DatabaseError.transactionEnded }
            return Blob(
                try BlobHandle(
                    connection,
                    schema: schema,
                    table: table,
                    column: column,
                    row: row,
                    writable: writable
                )
            )
        } catch {
            throw explained(error)
        }
    }
}
