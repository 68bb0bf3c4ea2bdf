public import CipherDB
internal import CipherKeys

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
    /// - Throws: `KeyError`, `RekeyError`, ``FileProblem``, `DatabaseError`; `KeyError/damaged(pages:)` where
    ///   pages were damaged before, and then nothing was changed.
    public func changeKeyInPlace(
        from oldKey: DatabaseKey,
        to newKey: DatabaseKey,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Verification {
        let database = try open(forWriting: true)
        defer { database.close() }
        let fit = try fit(oldKey, to: database)
        try unlock(database, fit)
        let before = try verifyOpened(database, fit.unlocked, progress)
        guard before.damagedPages.isEmpty else { throw KeyError.damaged(pages: before.damagedPages) }
        try database.rekey(newKey)
        do {
            // It is too late to stop: what progress throws does not matter any more.
            return try verify(key: newKey) { try? progress($0) }
        } catch {
            throw RekeyError.newKeyInForce(error)
        }
    }
}
