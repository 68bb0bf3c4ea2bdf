internal import CipherKeys
internal import SQLiteFormat

extension RollbackJournal {
    /// Whether any of the first images is right under a key; true also where there is none, or they cannot be told.
    package func holdsPages(_ cipher: PageCipher) throws -> Bool {
        guard pageSize == cipher.format.pageSize else { return true }
        var (seen, isRight) = (0, false)
        try visitRecords { number, offset in
            seen += 1
            isRight = try cipher.isAuthentic(source.read(pageSize, at: offset), number: number) == true
            return !isRight && seen < 32
        }
        return isRight || seen == 0
    }
}
