import CSQLCipher

/// A connection of a program that uses the engine without CipherDB.
final class StockConnection {
    struct Failure: Error {
        let code: Int32
        var isBusy: Bool { code & 0xff == SQLITE_BUSY }
    }

    private var handle: OpaquePointer?

    init(_ path: String, key: String) throws {
        try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil))
        sqlite3_busy_timeout(handle, 20000)
        try execute("PRAGMA key = \"\(key)\"")
    }

    deinit { sqlite3_close(handle) }

    func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    func checkpoint() throws {
        try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }
}
