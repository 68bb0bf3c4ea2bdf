internal import CSQLCipher

/// One `sqlite3_blob`: the only owner of it. Its connection keeps it until ``end()``.
final class BlobHandle {
    let connection: Connection
    private var handle: OpaquePointer?
    let isWritable: Bool
    private let table: TableName
    private let watch: DamageWatch?
    /// ``Connection/damageSign`` when the pages were last checked.
    private var sign: UInt64
    /// What the last call answered: closing repeats it.
    private var last = SQLITE_OK

    init(
        _ connection: Connection,
        schema: String,
        table: String,
        column: String,
        row: Int64,
        writable: Bool
    ) throws(DatabaseError) {
        self.connection = connection
        if writable { try connection.checkFile() }
        isWritable = writable
        self.table = TableName(table, in: schema)
        watch = connection.isWatched ? try connection.damageWatch(schema) : nil
        sign = connection.damageSign
        // The engine asks nobody about it.
        connection.authorizer.recordedReads?.insert(self.table)
        try connection.check(
            connection.working {
                sqlite3_blob_open(connection.handle, schema, table, column, row, writable ? 1 : 0, &handle)
            }
        )
        if let handle { connection.openHandles.add(self, handle) }
    }

    /// Closes it for an end that nobody asked for; a failure is thrown at the connection's next use.
    func close() {
        do { try end() } catch { connection.deferError(error) }
    }

    /// Closes it. Outside of a transaction that commits what was written.
    func end() throws(DatabaseError) {
        guard let handle else { return }
        connection.openHandles.remove(blob: handle)
        self.handle = nil
        let code = connection.working { sqlite3_blob_close(handle) }
        connection.reportCommit()
        if code != last { try connection.check(code) }
    }

    private func live() throws(DatabaseError) -> OpaquePointer {
        guard let handle else { throw DatabaseError(.misuse, "the blob is closed") }
        return handle
    }

    var count: Int {
        get throws(DatabaseError) { Int(sqlite3_blob_bytes(try live())) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DatabaseError) {
        let handle = try live()
        let code = connection.working {
            sqlite3_blob_read(handle, buffer.baseAddress, Int32(buffer.count), Int32(offset))
        }
        try check(code)
        try checkPages()
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DatabaseError) {
        guard isWritable else {
            throw DatabaseError(.readOnly, "the blob was opened for reading; open it with writable: true")
        }
        connection.tracker?.willWrite(table)
        let handle = try live()
        let code = connection.working {
            sqlite3_blob_write(handle, bytes.baseAddress, Int32(bytes.count), Int32(offset))
        }
        try check(code)
    }

    func move(toRow row: Int64) throws(DatabaseError) {
        let handle = try live()
        try check(connection.working { sqlite3_blob_reopen(handle, row) })
    }

    private func checkPages() throws(DatabaseError) {
        guard let watch, watch.mayHaveFailed(since: sign) else { return }
        try watch.check(isWriting: isWritable)
        sign = connection.damageSign
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        last = code
        // An engine says "out of memory" of a damaged page, too.
        if code != SQLITE_OK, ResultCode(rawValue: code).mayBeDamage { try checkPages() }
        guard code == SQLITE_ABORT else { return try connection.check(code) }
        throw DatabaseError(
            ResultCode(rawValue: code),
            "the row was changed by a statement since the blob was opened; open it again"
        )
    }
}
