public import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

extension DatabaseFile {
    /// Changes the key in place by the engine, and verifies every page under the new one.
    ///
    /// Every page is authenticated under the present key first: a damaged file is not rewritten. The file keeps its salt,
    /// so a passphrase that stays the same is refused. It cannot be ended before its time. Whatever happens, the file opens
    /// with one of the two keys.
    ///
    /// - Parameters:
    ///   - oldKey: The key that the file has.
    ///   - newKey: The key that it gets.
    ///   - progress: Called while pages are read before and after; the rewriting itself tells nothing.
    /// - Throws: `KeyError`, `RekeyError`, ``FileError``, `DatabaseError`; `KeyError.damaged` where
    ///   pages were damaged before, and then nothing was changed.
    public func changeKeyInPlace(
        from oldKey: DatabaseKey,
        to newKey: DatabaseKey,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Verification {
        try limitingWaits {
            try checkMayMakeJournal()
            let (database, present) = try database(under: oldKey, forWriting: true)
            defer { database.close() }
            let before = try verifyOpened(database, present, progress)
            if let damage = before.damage(of: path) { throw damage }
            var newKey = newKey
            // A salt that is not in the file stays the same.
            if newKey.salt == nil { newKey.saltOfHeader = present.key.salt }
            try database.rekey(newKey)
            do {
                // It is too late to stop: what progress throws does not matter any more.
                return try verify(key: newKey) { try? progress($0) }
            } catch {
                throw RekeyError(.newKeyInForce, path: path, cause: error)
            }
        }
    }

    /// Throws where this process may not make the journal that a change in place needs; the engine would not say why it failed.
    func checkMayMakeJournal() throws {
        let resolved = try FileError.naming(path, Platform.resolved(path))
        do {
            _ = try Platform.statusOfLink(SideFile.rollbackJournal.path(of: resolved))
        } catch .nameTooLong {
            throw FileError(.nameTooLong, path: path)
        } catch {
            // The engine deals with what stands there.
        }
        let directory = FileCalls.directory(of: resolved)
        guard Platform.mayWrite(directory) else { throw FileError(.noPermission, path: directory) }
    }
}
