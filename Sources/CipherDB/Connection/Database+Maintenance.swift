internal import CipherKeys

/// The mode of a checkpoint of the WAL (sqlite.org/c3ref/wal_checkpoint_v2.html).
public enum CheckpointMode: Int32, Sendable {
    /// What can be done without waiting for anyone.
    case passive = 0
    /// Everything, waiting for the writer.
    case full = 1
    /// Everything, and the next writer restarts the WAL.
    case restart = 2
    /// Everything, and the log is cut to no bytes.
    case truncate = 3
}

extension Database {
    /// Copies pages from the write-ahead log into the database file.
    ///
    /// - Parameters:
    ///   - mode: How much it does.
    ///   - name: The database: `main`, or one that is attached; nil for all.
    /// - Returns: The pages in the log, and how many of them are in the file by now; -1 each without a log.
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where others hold it up, ``KeyError``.
    @discardableResult public func checkpoint(
        _ mode: CheckpointMode = .passive,
        name: String? = nil
    ) throws -> (logFrameCount: Int, checkpointCount: Int) {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        do {
            let counts = try usableConnection().checkpoint(mode, schema: name)
            return (Int(counts.log), Int(counts.copied))
        } catch {
            throw explained(error)
        }
    }

    /// Rebuilds the database without free pages (sqlite.org/lang_vacuum.html).
    ///
    /// It needs room for a second copy beside the database, and for one in the directory of temporary files, which the engine encrypts. The
    /// latter is in memory, up to ``Configuration/statementMemoryLimit``, where the database is plaintext or has not the page size and reserve of
    /// the engine's own format, or the connection has temporary tables.
    ///
    /// - Throws: ``DatabaseError``, also within a transaction, and so within `write`; ``KeyError``.
    public func vacuum() throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let connection = try usableConnection()
        // A change of the setting drops temporary tables.
        let hasTemporaryTables = try connection.text("SELECT name FROM sqlite_temp_master") != nil
        let mayBeFile =
            try hasOwnPages() && !isInTransaction && !hasTemporaryTables && !connection.openHandles.hasRunning
        guard mayBeFile else { return try takingLong { try executeUpdate("VACUUM") } }
        try connection.unrestricted { try connection.execute("PRAGMA temp_store = FILE") }
        let outcome = Result { try takingLong { try executeUpdate("VACUUM") } }
        do {
            try connection.unrestricted { try connection.execute("PRAGMA temp_store = MEMORY") }
        } catch {
            // Files of sorts would not be encrypted.
            close()
            throw error
        }
        do {
            try outcome.get()
        } catch let error as DatabaseError where error.code.primary == .full {
            throw DatabaseError(
                error.code,
                "\(error.message); the copy that VACUUM makes first is in a temporary file, whose directory SQLITE_TMPDIR names",
                sql: error.sql
            )
        }
    }

    /// Whether pages are as large, and end with as many unused bytes, as those of the engine's own format. In a temporary file the engine encrypts
    /// pages as if they were of that format, which destroys others.
    private func hasOwnPages() throws -> Bool {
        guard let format = verifiedKey?.format else { return false }
        let own = try Engine.current.ownFormat()
        return format.pageSize == own.pageSize && format.reserve == own.reserve
    }
}

extension DatabaseWriter {
    /// Copies pages from the write-ahead log into the database file, as ``Database/checkpoint(_:name:)``.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where a reading block holds it up.
    @discardableResult
    public func checkpoint(_ mode: CheckpointMode = .passive) throws -> (logFrameCount: Int, checkpointCount: Int) {
        try inDatabase { try $0.checkpoint(mode) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    @discardableResult
    public func checkpoint(
        _ mode: CheckpointMode = .passive
    ) async throws -> (logFrameCount: Int, checkpointCount: Int) {
        try await inDatabase { try $0.checkpoint(mode) }
    }

    /// Rebuilds the database without free pages, when the blocks before are done; see ``Database/vacuum()``.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func vacuum() throws {
        try inDatabase { try $0.vacuum() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func vacuum() async throws {
        try await inDatabase { try $0.vacuum() }
    }
}
