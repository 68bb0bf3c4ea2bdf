internal import CipherKeys

extension Database {
    /// Checks the whole main database, as it is now: the MAC of every page, then SQLite's integrity check.
    ///
    /// It reads every page twice, and writers of a database without a WAL wait for it.
    ///
    /// - Returns: What SQLite's check finds, a line each; none for a sound database.
    /// - Throws: ``KeyError`` with ``KeyError/Problem/damaged(pages:)`` where pages are not what was written; ``DatabaseError``.
    public func integrityCheck() throws -> [String] {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        // In one transaction, so that no page is written between the two.
        guard isInTransaction else { return try inTransaction(.deferred) { try $0.integrityCheck() } }
        _ = try int(forQuery: "SELECT count(*) FROM sqlite_master")
        if let verifiedKey, verifiedKey.format.pageAuthentication != nil {
            let connection = try usableConnection()
            let damaged = try StoredPages(connection).damagedPages(verifiedKey)
            guard damaged.isEmpty else { throw damage(damaged, connection) }
        }
        let lines = try fetchAll(String.self, "PRAGMA main.integrity_check")
        return lines == ["ok"] ? [] : lines
    }

    /// Rebuilds the database without free pages (sqlite.org/lang_vacuum.html). It needs room on the disk for a second copy.
    ///
    /// - Throws: ``DatabaseError``, also within a transaction, and so within `write`; ``KeyError``.
    public func vacuum() throws {
        try executeUpdate("VACUUM")
    }
}

extension DatabaseReader {
    /// Checks the whole main database, as it is now: the MAC of every page, then SQLite's integrity check; see
    /// ``Database/integrityCheck()``.
    ///
    /// - Returns: What SQLite's check finds, a line each; none for a sound database.
    /// - Throws: ``KeyError`` with ``KeyError/Problem/damaged(pages:)`` where pages are not what was written; ``DatabaseError``.
    public func integrityCheck() throws -> [String] {
        try read { try $0.integrityCheck() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func integrityCheck() async throws -> [String] {
        try await read { try $0.integrityCheck() }
    }
}

extension DatabaseWriter {
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
