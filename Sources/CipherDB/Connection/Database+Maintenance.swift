internal import CipherKeys

extension Database {
    /// Checks the whole main database, as it is now: the MAC of every page, then SQLite's integrity check, then whether each full-text index
    /// is that of its table.
    ///
    /// It reads every page twice, and writers of a database without a WAL wait for it. Full-text indexes need the lock of a writer; on a
    /// connection that only reads, the numbers of their rows are compared with the table's, not their words.
    ///
    /// - Returns: What is found, a line each; none for a sound database.
    /// - Throws: ``KeyError`` with `KeyError.damaged` where pages are not what was written; ``DatabaseError``, also where
    ///   nothing is found and the connection lacks a function, collation, module or tokenizer that the check needs.
    public func integrityCheck() throws -> [String] {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        // In one transaction, so that no page is written between the two.
        let problems =
            try isInTransaction ? structureProblems() : inTransaction(.deferred) { try $0.structureProblems() }
        // A transaction that has read cannot always get the lock of a writer.
        return try problems + takingLong(fullTextProblems)
    }

    private func structureProblems() throws -> [String] { try takingLong(findStructureProblems) }

    private func findStructureProblems() throws -> [String] {
        _ = try int(forQuery: "SELECT count(*) FROM sqlite_master")
        if let verifiedKey, verifiedKey.format.pageAuthentication != nil {
            let connection = try usableConnection()
            let damaged = try StoredPages(connection).damagedPages(verifiedKey)
            guard damaged.isEmpty else { throw damage(damaged, connection) }
        }
        let found = try checkStructure()
        guard found.problems.isEmpty, !found.unchecked.isEmpty else { return found.problems }
        throw DatabaseError(
            .error,
            "no damage was found, and not all could be checked: \(found.unchecked.joined(separator: "; ")); "
                + "make what is missing in Configuration.prepareDatabase"
        )
    }

    /// Rebuilds the database without free pages (sqlite.org/lang_vacuum.html).
    ///
    /// It needs room for a second copy beside the database, and for one in the directory of temporary files, which the engine encrypts. The
    /// latter is in memory, up to ``Configuration/statementMemoryLimit``, where the database is plaintext or has not the page size and reserve of
    /// the engine's own format, or the connection has temporary tables.
    ///
    /// - Throws: ``DatabaseError``, also within a transaction, and so within `write`; ``KeyError``.
    public func vacuum() throws {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        let connection = try usableConnection()
        // A change of the setting drops temporary tables.
        let hasTemporaryTables = try connection.text("SELECT name FROM sqlite_temp_master") != nil
        let mayBeFile = try hasOwnPages() && !isInTransaction && !hasTemporaryTables
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
        try outcome.get()
    }

    /// Whether pages are as large, and end with as many unused bytes, as those of the engine's own format. In a temporary file the engine encrypts
    /// pages as if they were of that format, which destroys others.
    private func hasOwnPages() throws -> Bool {
        guard let format = verifiedKey?.format else { return false }
        let own = try Engine.current.ownFormat()
        return format.pageSize == own.pageSize && format.reserve == own.reserve
    }
}

extension DatabaseReader {
    /// Checks the whole main database, as it is now: the MAC of every page, SQLite's integrity check, and full-text indexes, whose words the
    /// writer compares with those of their tables; see ``Database/integrityCheck()``.
    ///
    /// - Returns: What is found, a line each; none for a sound database.
    /// - Throws: ``KeyError`` with `KeyError.damaged` where pages are not what was written; ``DatabaseError``.
    public func integrityCheck() throws -> [String] {
        let (problems, hasIndexes) = try read { (try $0.integrityCheck(), try $0.hasFullTextIndexes) }
        guard hasIndexes, let writer = self as? any DatabaseWriter else { return problems }
        return problems + (try writer.inDatabase { try $0.fullTextProblems() }).filter { !problems.contains($0) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func integrityCheck() async throws -> [String] {
        let (problems, hasIndexes) = try await read { (try $0.integrityCheck(), try $0.hasFullTextIndexes) }
        guard hasIndexes, let writer = self as? any DatabaseWriter else { return problems }
        return problems + (try await writer.inDatabase { try $0.fullTextProblems() }).filter { !problems.contains($0) }
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
