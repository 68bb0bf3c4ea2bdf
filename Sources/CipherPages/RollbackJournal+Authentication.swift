internal import CipherKeys
internal import SQLiteFormat

extension RollbackJournal {
    /// Whether any of the first images is right under a key, or cannot be told from one; true also where there is none.
    package func holdsPages(_ cipher: PageCipher) throws -> Bool {
        var (seen, isRight) = (0, false)
        try visitRecords { number, offset in
            seen += 1
            isRight =
                try pageSize == cipher.format.pageSize
                && cipher.isAuthentic(source.read(pageSize, at: offset), number: number) != false
            return !isRight && seen < 32
        }
        return isRight || seen == 0
    }
}
