package import CipherKeys
package import CipherPages

/// The file under the connection, for operations that read its pages themselves.
extension Database {
    /// What the file is, from outside. Only between opening and keying.
    package func fileKind() throws -> FileKind {
        guard case .opened(_, let kind, _) = state else {
            throw DatabaseError(.misuse, "the file is looked at before the database is keyed")
        }
        return kind
    }

    /// Whether the file, which is neither empty nor plaintext, has no pattern, as an encrypted one.
    package func looksEncrypted() throws -> Bool {
        try FileKind.looksEncrypted(EngineFile(openConnection()))
    }

    /// The first bytes of the file.
    package func firstPage(_ count: Int) throws -> [UInt8] {
        try EngineFile(openConnection()).read(count, at: 0)
    }

    /// The file's size in bytes.
    package func fileSize() throws -> Int64 {
        try EngineFile(openConnection()).size()
    }

    /// Tries a key with each of `formats`. Only between opening and keying.
    package func probe(_ key: DatabaseKey, formats: [CipherFormat]) throws -> KeyProbe.Outcome {
        try probe(.key(key), formats: formats, openConnection())
    }

    /// Authenticates every page.
    package func scanPages(_ unlocked: Unlocked, progress: (Int, Int) throws -> Void) throws -> PageScan.Result {
        let connection = try openConnection()
        return try PageScan(
            database: EngineFile(connection),
            log: writeAheadLog(of: connection),
            key: unlocked.key,
            format: unlocked.format
        ).run(progress: progress)
    }

    /// Says what each page is.
    package func mapPages(_ unlocked: Unlocked, progress: (Int, Int) throws -> Void) throws -> [PageMap.Kind] {
        try PageMap(
            newestPages(pageSize: unlocked.format.pageSize),
            key: unlocked.key,
            format: unlocked.format,
            progress: progress
        ).kinds
    }

    /// The pages as they are in force.
    package func newestPages(pageSize: Int) throws -> NewestPages {
        let connection = try openConnection()
        return try NewestPages(database: EngineFile(connection), log: writeAheadLog(of: connection), pageSize: pageSize)
    }

    /// The pages as they are in force when the transaction that a crash cut off is rolled back.
    package func newestPagesAtRest(pageSize: Int) throws -> NewestPages {
        let connection = try openConnection()
        guard let journal = rollbackJournal(of: connection), try RollbackJournal(journal) != nil else {
            return try newestPages(pageSize: pageSize)
        }
        return try NewestPages(database: EngineFile(connection), journal: journal, pageSize: pageSize)
    }

    private func openConnection() throws -> Connection {
        guard let connection else { throw DatabaseError(.misuse, "the database is not open") }
        return connection
    }
}
