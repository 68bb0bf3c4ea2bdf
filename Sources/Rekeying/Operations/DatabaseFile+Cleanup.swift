internal import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

extension DatabaseFile {
    /// Removes what killed runs left beside the database, which is not touched: a new file that was not complete, or an old
    /// one that had been replaced, which are overwritten first; and a journal that was ended, whose pages may be under an
    /// old key; and keyrings that were not complete, of the keyring beside the database.
    ///
    /// Where the database itself is missing, it is what a killed copy or recovery left that is removed.
    ///
    /// - Returns: their paths.
    /// - Throws: ``FileError``; `DatabaseError` with `busy` where another run, or any connection, uses the
    ///   database at this moment.
    public func cleanUp() throws -> [String] {
        try limitingWaits {
            do {
                try FileError.check(path, forWriting: true)
            } catch FileError.missing {
                // A new file is locked as long as it is written, and there is no old one.
                let removed = try Leftovers(of: path).remove()
                guard !removed.isEmpty else { throw FileError(.missing, path: path) }
                return removed
            }
            let locked = try lockExclusively()
            defer { locked.release() }
            var removed = try Leftovers(of: locked.path).remove()
            let journal = SideFile.rollbackJournal.path(of: locked.path)
            if try statusBeside(journal) != nil, try !hasJournal(locked.path) {
                try FileError.naming(journal, FileCalls.remove(journal))
                removed.append(journal)
            }
            return removed + Keyring(besideDatabase: path).cleanUp()
        }
    }
}
