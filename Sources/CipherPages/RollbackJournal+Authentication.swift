internal import CipherKeys
internal import CipherSystem
package import SQLiteFormat

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

    /// The damage in a journal that is to be played back, a sentence each.
    ///
    /// SQLite's own check of a record looks at every 200th byte only, and ends the playback without an error at the first
    /// record that it fails on. Nothing is found in a journal that was ended.
    ///
    /// - Parameters:
    ///   - database: The file, which does not change meanwhile.
    ///   - coding: How its pages are; without a MAC, SQLite's own check of a record is all that tells.
    package static func errors(
        _ source: any PageSource,
        database: any PageSource,
        coding: PageCoding
    ) throws -> [String] {
        if try isFinalized(source) { return [] }
        let size = try source.size()
        let first = try source.read(28, at: 0)
        guard let journal = try RollbackJournal(source), journal.pageSize == coding.pageSize else {
            return ["the header of the rollback journal is damaged"]
        }
        let cipher = try coding.cipher()
        var errors: [String] = []
        var original: [UInt8]?
        var seen: Set<UInt32> = []
        var segment: Int64 = 0
        while segment + 28 <= size {
            let header = try source.read(28, at: segment)
            guard header.starts(with: magic) else {
                // What an earlier transaction has left behind a journal that is kept has zero for the first of these bytes.
                let bits = zip(header, magic).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
                if bits <= 2 { errors.append("a header of the rollback journal is damaged") }
                break
            }
            if header[16..<28] != first[16..<28] { errors.append("a header of the rollback journal is damaged") }
            let (count, nonce) = (header.bigEndian(at: 8), UInt32(header.bigEndian(at: 12)))
            var offset = segment + journal.sectorSize
            var records = 0
            while records < count || count == 0, offset + Int64(8 + journal.pageSize) <= size {
                let record = try Record(source.read(8 + journal.pageSize, at: offset), nonce)
                // Behind a count of -1 records of an earlier transaction may follow.
                if count == 0xffff_ffff, !record.hasItsChecksum { break }
                let isWhole = try record.isWhole(cipher, of: journal.pageCount)
                if errors.count >= errorLimit { return errors }
                // > 0 before a sync. Then the database was not written to either.
                if count == 0, try !isWhole || !record.stands(in: database) {
                    if isWhole { errors.append("a header of the rollback journal is damaged: it counts no records") }
                    break
                }
                // A journal has each page once.
                if !isWhole || !seen.insert(record.number).inserted {
                    errors.append("the rollback journal's image of page \(record.number) is damaged")
                }
                if record.number == 1 { original = record.page }
                offset += Int64(8 + journal.pageSize)
                records += 1
            }
            // > -1: all records to the end of the file
            if count != 0, count != 0xffff_ffff {
                let next = try Record(source.read(8 + journal.pageSize, at: offset), nonce)
                if try records < count || next.isWhole(cipher, of: journal.pageCount) {
                    errors.append("a header of the rollback journal is damaged: it does not count all records")
                }
            }
            segment = (offset + journal.sectorSize - 1) / journal.sectorSize * journal.sectorSize
            // There is no second header before the first was synced.
            if count == 0, try source.read(8, at: segment) == magic {
                errors.append("a header of the rollback journal is damaged: it counts no records")
            }
        }
        if try journal.isSizeWrong(original ?? database.read(journal.pageSize, at: 0), cipher) {
            errors.append("a header of the rollback journal is damaged: the size is not that of the database")
        }
        return errors
    }

    /// More are not told: a file can be long without having anything in it.
    private static let errorLimit = 100

    /// Page 1 as it was before the transaction says how many pages there were.
    private func isSizeWrong(_ page: [UInt8], _ cipher: PageCipher?) throws -> Bool {
        if let cipher, try cipher.isAuthentic(page, number: 1) != true { return false }
        let header = try DatabaseHeader(cipher?.decrypt(page, number: 1) ?? page)
        return header.countsPages && header.pageCount != pageCount
    }
}

extension RollbackJournal.Record {
    /// - Parameter count: Pages that the database had: the journal has no others.
    fileprivate func isWhole(_ cipher: PageCipher?, of count: Int) throws -> Bool {
        try hasItsChecksum && (1...UInt32(max(1, count))).contains(number)
            && cipher?.isAuthentic(page, number: number) != false
    }
}
