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

    /// Tries a key with each of `formats`, and changes nothing: what page 1 is may be said by a journal that is still to be
    /// played back. Only between opening and keying.
    package func probe(_ key: DatabaseKey, formats: [CipherFormat]) throws -> KeyProbe.Outcome {
        let connection = try openConnection()
        let outcome = try probeWithoutRollback(.key(key), formats, connection).outcome
        // The file may hold pages of a change of key that was cut off: what the journal has is in force.
        guard case .opens(let found, let format) = outcome, format.pageAuthentication != nil,
            let journal = try hotJournal(connection), let index = try RollbackJournal(journal),
            try !index.holdsPages(PageCipher(key: found, format: format))
        else { return outcome }
        return .rejected
    }

    /// The journal of a transaction that was cut off, and that nobody is writing.
    private func hotJournal(_ connection: Connection) throws -> FileBytes? {
        let file = try EngineFile(connection)
        return try file.locked(waiting: busyMilliseconds) {
            guard let journal = rollbackJournal(of: connection), try !file.isReserved else { return nil }
            return try isToBePlayedBack(journal) ? journal : nil
        }
    }

    private func isToBePlayedBack(_ journal: FileBytes) throws -> Bool {
        if try RollbackJournal.isEnded(journal) { return false }
        guard let several = try RollbackJournal.superJournal(journal) else { return true }
        return (try? Platform.status(of: several)) != nil
    }

    /// What in the journal or WAL beside the file differs from what was written, a sentence each. Only between opening and
    /// keying, before the engine acts on them.
    package func sideFileFlaws(_ side: PageRewrite.Side) throws -> [String] {
        let connection = try openConnection()
        let file = try EngineFile(connection)
        return try flawsOfLog(connection, side.pageSize)
            + (hotJournal(connection).map { try RollbackJournal.flaws($0, database: file, side: side) } ?? [])
    }

    /// Authenticates every page.
    package func scanPages(
        _ unlocked: Unlocked,
        log: WriteAheadLog.Extent,
        progress: (Int, Int) throws -> Void
    ) throws -> PageScan.Result {
        try pageScan(openConnection(), unlocked, log: log).run(progress: progress)
    }

    func pageScan(
        _ connection: Connection,
        _ unlocked: Unlocked,
        log: WriteAheadLog.Extent = .all,
        countedOnly: Bool = false
    ) throws -> PageScan {
        try PageScan(
            database: EngineFile(connection),
            log: writeAheadLog(of: connection).map { ($0, log) },
            key: unlocked.key,
            format: unlocked.format,
            countedOnly: countedOnly
        )
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
    ///
    /// - Parameter extent: How much of a WAL counts.
    package func newestPagesAtRest(pageSize: Int, log extent: WriteAheadLog.Extent) throws -> NewestPages {
        let connection = try openConnection()
        guard let journal = rollbackJournal(of: connection), try RollbackJournal(journal) != nil,
            try isToBePlayedBack(journal)
        else {
            let log = writeAheadLog(of: connection)
            return try NewestPages(
                database: EngineFile(connection),
                log: log,
                pageSize: pageSize,
                frames: extent == .all ? nil : log.map { try WriteAheadLog.validFrames($0) }
            )
        }
        return try NewestPages(database: EngineFile(connection), journal: journal, pageSize: pageSize)
    }

    private func flawsOfLog(_ connection: Connection, _ pageSize: Int) throws -> [String] {
        var flaws: [String] = []
        // While others write, a frame may be read by half; what is damaged stays so.
        for attempt in 0..<8 {
            Platform.sleep(milliseconds: 5 * attempt)
            guard let log = writeAheadLog(of: connection) else { return [] }
            flaws = try WriteAheadLog.flaws(log, pageSize: pageSize) ?? []
            if flaws.isEmpty { break }
        }
        return flaws
    }

    private func openConnection() throws -> Connection {
        guard let connection else { throw DatabaseError(.misuse, "the database is not open") }
        return connection
    }
}
