internal import CipherKeys
package import CipherPages
internal import CipherSystem
package import SQLiteFormat

/// The journal and the write-ahead log, on which the engine would act.
extension UnkeyedFile {
    /// The damage of a file together with them. Where page 1 is damaged, it cannot say whether the key was changed.
    func damageWithSideFiles(_ found: Authentication) throws -> Authentication.Damage {
        let (key, format) = (found.verifiedKey.key, found.verifiedKey.format)
        if try isJournalUnderOtherKey(key, format) { return .sideFileUnderOtherKey(.rollbackJournal) }
        let log = try authenticateLog(key, format)
        guard case .none = found.damage else {
            return log?.foreignOrigin == nil ? found.damage : .sideFileUnderOtherKey(.writeAheadLog)
        }
        if try isForeign(log) { return .sideFileUnderOtherKey(.writeAheadLog) }
        let errors = try sideFileErrors(.encrypted(key, format)) + (log?.errors ?? [])
        return errors.isEmpty ? .none : .sideFiles(errors)
    }

    /// Throws where the key is right for no page of a WAL that the engine would copy into the file, and where a WAL or journal that it would
    /// act on has pages of another size.
    ///
    /// A look at the first frame is what nearly every opening needs.
    func checkSideFilesAreOwn(_ verifiedKey: VerifiedKey) throws {
        let (key, format) = (verifiedKey.key, verifiedKey.format)
        if let log = pages.writeAheadLog, try !beginsAsOwn(log, key, format),
            try isForeign(authenticateLog(key, format))
        {
            throw underOtherKey(.writeAheadLog)
        }
        if let journal = pages.rollbackJournal,
            try RollbackJournal(journal).map({ $0.pageSize != format.pageSize }) == true,
            try isJournalUnderOtherKey(key, format)
        {
            throw underOtherKey(.rollbackJournal)
        }
    }

    /// Whether the first frame of a WAL is the file's own, or there is none.
    private func beginsAsOwn(_ log: FileBytes, _ key: DerivedKey, _ format: CipherFormat) throws -> Bool {
        let beginning = try log.read(56 + format.pageSize, at: 0)
        guard beginning.count >= 32, beginning.bigEndian(at: 8) == format.pageSize else { return beginning.count < 32 }
        guard beginning.count == 56 + format.pageSize else { return true }
        let number = UInt32(beginning.bigEndian(at: 32))
        return try PageCipher(key: key, format: format).isAuthentic(beginning[56...], number: number) != false
    }

    /// Whether the engine must not have a WAL.
    ///
    /// - Throws: `KeyError.wrongKey` where it holds a change of key.
    private func isForeign(_ log: LogAuthentication?) throws -> Bool {
        switch log?.foreignOrigin {
        case .changeOfKey?: throw keyWasChanged
        // The log is that of the file that has the name now.
        case .unknown? where connection.hasMoved: throw keyWasChanged
        case .unknown?: return true
        case nil: return false
        }
    }

    private var keyWasChanged: KeyError {
        KeyError(.wrongKey, path: filePath, detail: "the key was changed: the write-ahead log has pages under another")
    }

    /// The error of a side file without a page under the key of the file.
    package func underOtherKey(_ side: SideFile) -> KeyError {
        KeyError(.journalUnderOtherKey, path: filePath, detail: "it is \(side.path(of: filePath))")
    }

    /// Whether the file may hold pages of a change of key that was cut off: what the journal has is in force.
    private func isJournalUnderOtherKey(_ key: DerivedKey, _ format: CipherFormat) throws -> Bool {
        guard let journal = try hotJournal(), let index = try RollbackJournal(journal) else { return false }
        return try !index.holdsPages(PageCipher(key: key, format: format))
    }

    /// Nil without a WAL.
    private func authenticateLog(_ key: DerivedKey, _ format: CipherFormat) throws -> LogAuthentication? {
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

    /// The damage in the journal or WAL, a sentence each.
    package func sideFileErrors(_ coding: PageCoding) throws -> [String] {
        try errorsOfWAL(coding.pageSize)
            + (hotJournal().map { try RollbackJournal.errors($0, database: pages, coding: coding) } ?? [])
    }

    private func errorsOfWAL(_ pageSize: Int) throws -> [String] {
        var errors: [String] = []
        // While others write, a frame may be read by half; damage stays.
        for attempt in 0..<8 {
            Platform.sleep(milliseconds: 5 * attempt)
            guard let log = pages.writeAheadLog else { return [] }
            errors = try WriteAheadLog.errors(log, pageSize: pageSize) ?? []
            if errors.isEmpty { break }
        }
        return errors
    }
}
