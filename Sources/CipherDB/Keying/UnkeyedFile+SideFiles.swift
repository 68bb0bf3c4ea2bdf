internal import CipherKeys
package import CipherPages
internal import CipherSystem
package import SQLiteFormat

/// The journal and the write-ahead log, on which the engine would act.
extension UnkeyedFile {
    /// What in them differs from what was written under a key that is right for the file.
    func damageOfSideFiles(_ key: DerivedKey, _ format: CipherFormat) throws -> Authentication.Damage {
        if try isJournalUnderOtherKey(key, format) { return .sideFileUnderOtherKey(.rollbackJournal) }
        let log = try authenticateLog(key, format)
        switch log?.foreignOrigin {
        case .changeOfKey?: throw keyWasChanged
        case .unknown? where connection.hasMoved: throw keyWasChanged
        case .unknown?: return .sideFileUnderOtherKey(.writeAheadLog)
        case nil: break
        }
        let errors = try sideFileErrors(.encrypted(key, format)) + (log?.errors ?? [])
        return errors.isEmpty ? .none : .sideFiles(errors)
    }

    /// Throws where the key is right for no page of a WAL that the engine would copy into the file.
    ///
    /// A look at the first frame is what nearly every opening needs.
    func checkLog(_ verifiedKey: VerifiedKey) throws {
        guard verifiedKey.format.pageAuthentication != nil, let log = pages.writeAheadLog else { return }
        let pageSize = verifiedKey.format.pageSize
        let frame = try log.read(24 + pageSize, at: 32)
        guard frame.count == 24 + pageSize else { return }
        let cipher = try PageCipher(key: verifiedKey.key, format: verifiedKey.format)
        if try cipher.isAuthentic(frame[24...], number: UInt32(frame.bigEndian(at: 0))) == true { return }
        switch try authenticateLog(verifiedKey.key, verifiedKey.format)?.foreignOrigin {
        case .changeOfKey?: throw keyWasChanged
        // The log is that of the file that has the name now.
        case .unknown? where connection.hasMoved: throw keyWasChanged
        case .unknown?: throw underOtherKey(.writeAheadLog)
        case nil: break
        }
    }

    private var keyWasChanged: KeyError {
        KeyError(.wrongKey, path: filePath, detail: "the key was changed: the write-ahead log has pages under another")
    }

    /// The error of a side file of which no page is under the key of the file.
    package func underOtherKey(_ side: SideFile) -> KeyError {
        KeyError(.journalUnderOtherKey, path: filePath, detail: "it is \(side.path(of: filePath))")
    }

    /// Whether the file may hold pages of a change of key that was cut off: what the journal has is in force.
    private func isJournalUnderOtherKey(_ key: DerivedKey, _ format: CipherFormat) throws -> Bool {
        guard format.pageAuthentication != nil, let journal = try hotJournal(), let index = try RollbackJournal(journal)
        else { return false }
        return try !index.holdsPages(PageCipher(key: key, format: format))
    }

    /// Nil without a WAL, or without MACs.
    private func authenticateLog(_ key: DerivedKey, _ format: CipherFormat) throws -> LogAuthentication? {
        guard format.pageAuthentication != nil else { return nil }
        var found: LogAuthentication?
        // While others write and checkpoint, a page may be read by half.
        for attempt in 0..<8 {
            Platform.sleep(milliseconds: 5 * attempt)
            guard let log = pages.writeAheadLog else { return nil }
            found = try LogAuthentication(log, database: pages, key: key, format: format)
            if found?.errors.isEmpty != false { break }
        }
        return found
    }

    /// The journal of a transaction that was cut off, and that nobody is writing.
    private func hotJournal() throws -> FileBytes? {
        try pages.file.locked(waiting: busyMilliseconds) {
            guard let journal = pages.rollbackJournal, try !pages.file.isReserved else { return nil }
            return try StoredPages.isHot(journal) ? journal : nil
        }
    }

    /// What in the journal or WAL differs from what was written, a sentence each.
    package func sideFileErrors(_ coding: PageCoding) throws -> [String] {
        try errorsOfWAL(coding.pageSize)
            + (hotJournal().map { try RollbackJournal.errors($0, database: pages, coding: coding) } ?? [])
    }

    private func errorsOfWAL(_ pageSize: Int) throws -> [String] {
        var errors: [String] = []
        // While others write, a frame may be read by half; what is damaged stays so.
        for attempt in 0..<8 {
            Platform.sleep(milliseconds: 5 * attempt)
            guard let log = pages.writeAheadLog else { return [] }
            errors = try WriteAheadLog.errors(log, pageSize: pageSize) ?? []
            if errors.isEmpty { break }
        }
        return errors
    }
}
