internal import CSQLCipher

/// One `sqlite3_blob`: the only owner of it.
final class BlobHandle {
    private let connection: Connection
    private var handle: OpaquePointer?

    init(
        _ connection: Connection,
        schema: String,
        table: String,
        column: String,
        row: Int64,
        writable: Bool
    ) throws(DatabaseError) {
        self.connection = connection
        try connection.check(
            sqlite3_blob_open(connection.handle, schema, table, column, row, writable ? 1 : 0, &handle)
        )
        if let handle { connection.remember(self, handle) }
    }

    deinit {
        close()
    }

    func close() {
        guard let handle else { return }
        connection.forget(blob: handle)
        // Its code repeats the failure of the last call, or says that a commit failed, which the next statement meets.
        sqlite3_blob_close(handle)
        self.handle = nil
    }

    private func live() throws(DatabaseError) -> OpaquePointer {
        guard let handle else { throw DatabaseError(.misuse, "the blob is closed") }
        return handle
    }

    var count: Int {
        get throws(DatabaseError) { Int(sqlite3_blob_bytes(try live())) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DatabaseError) {
        try check(sqlite3_blob_read(try live(), buffer.baseAddress, Int32(buffer.count), Int32(offset)))
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DatabaseError) {
        try check(sqlite3_blob_write(try live(), bytes.baseAddress, Int32(bytes.count), Int32(offset)))
    }

    func move(toRow row: Int64) throws(DatabaseError) {
        try check(sqlite3_blob_reopen(try live(), row))
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_ABORT else { return try connection.check(code) }
        throw DatabaseError(
            ResultCode(rawValue: code),
            "the row was changed by a statement since the blob was opened; open it again"
        )
    }
}
