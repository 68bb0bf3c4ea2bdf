internal import CipherSystem

/// A rollback journal that was not ended: what a crash leaves (sqlite.org/fileformat.html, section 3).
package struct RollbackJournal {
    /// Bytes in a page of its database.
    package let pageSize: Int
    /// Pages that the database had before the transaction.
    package let pageCount: Int
    package let source: any PageSource
    package let sectorSize: Int64

    /// > The first 8 bytes of a valid journal header
    package static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// Nil where `source` is no journal, or one that was ended.
    package init?(_ source: some PageSource) throws {
        let header = try source.read(28, at: 0)
        guard header.count == 28, header.starts(with: RollbackJournal.magic) else { return nil }
        pageCount = header.bigEndian(at: 16)
        sectorSize = Int64(header.bigEndian(at: 20))
        pageSize = header.bigEndian(at: 24)
        guard (32...65536).contains(sectorSize), (512...65536).contains(pageSize) else { return nil }
        // Both are powers of two, or SQLite does not read on.
        guard sectorSize.nonzeroBitCount == 1, pageSize.nonzeroBitCount == 1 else { return nil }
        self.source = source
    }

    /// Whether `source` is a journal with nothing in it.
    ///
    /// > To end a transaction the journal is deleted, truncated to no bytes, or its header overwritten with zeros.
    /// The magic number and the count are zeros until a journal is on the disk, too.
    package static func isFinalized(_ source: some PageSource) throws -> Bool {
        try source.read(12, at: 0).allSatisfy { $0 == 0 }
    }

    /// The file that stands for a transaction over several databases: where it is gone, that was committed, and SQLite does
    /// not play the journal back.
    ///
    /// > the name of the super-journal, its length, a checksum, and the magic number, at the end of the file
    package static func superJournal(_ source: some PageSource) throws -> String? {
        let size = try source.size()
        guard size > 16 else { return nil }
        let end = try source.read(16, at: size - 16)
        guard end.count == 16, Array(end[8...]) == magic else { return nil }
        let length = end.bigEndian(at: 0)
        guard (1...4096).contains(length), Int64(length) <= size - 16 else { return nil }
        return try String(utf8: source.read(length, at: size - 16 - Int64(length)))
    }

    /// Page 1 as it was before the transaction, in the form that it has in the file; nil where the transaction had not
    /// touched it.
    package func firstPage() throws -> [UInt8]? {
        var place: Int64?
        try visitRecords { number, offset in
            if number == 1 { place = offset }
            return number != 1
        }
        return try place.map { try source.read(pageSize, at: $0) }
    }

    /// Where the image of each page begins in the file.
    package func offsets() throws -> [UInt32: Int64] {
        var offsets: [UInt32: Int64] = [:]
        try visitRecords { number, offset in
            if offsets[number] == nil { offsets[number] = offset }
            return true
        }
        return offsets
    }

    /// Calls `body` with the page number of each record and the place of its image, until it returns false.
    package func visitRecords(_ body: (UInt32, Int64) throws -> Bool) throws {
        let end = try source.size()
        var segment: Int64 = 0
        while segment + 28 <= end {
            let header = try source.read(28, at: segment)
            guard header.starts(with: RollbackJournal.magic) else { return }
            // > The page count is -1 (0xffffffff) where all records to the end of the file count, and 0 before a sync.
            let count = header.bigEndian(at: 8)
            var offset = segment + sectorSize
            var records = 0
            while offset + Int64(8 + pageSize) <= end, records < count || count == 0 {
                let start = try source.read(32, at: offset)
                // A file that was made long without being written ends here. No page has the number 0.
                guard start.contains(where: { $0 != 0 }) else { return }
                let number = UInt32(start.bigEndian(at: 0))
                // Behind a count of -1 records of an earlier transaction may follow.
                if count == 0xffff_ffff,
                    try !Record(source.read(8 + pageSize, at: offset), UInt32(header.bigEndian(at: 12))).hasItsChecksum
                {
                    return
                }
                guard try number == 0 || body(number, offset + 4) else { return }
                offset += Int64(8 + pageSize)
                records += 1
            }
            segment = (offset + sectorSize - 1) / sectorSize * sectorSize
        }
    }
}

extension RollbackJournal {
    /// > page number, 4 bytes; original content of the page; checksum, 4 bytes
    package struct Record {
        package let number: UInt32
        package let page: [UInt8]
        /// Whether it is of the journal with the nonce that it was looked at for.
        package let hasItsChecksum: Bool

        package init(_ bytes: [UInt8], _ nonce: UInt32) {
            guard bytes.count > 8 else {
                (number, page, hasItsChecksum) = (0, [], false)
                return
            }
            number = UInt32(bytes.bigEndian(at: 0))
            page = Array(bytes[4..<(bytes.count - 4)])
            // > The nonce plus every 200th byte, counted from the end of the page, down to the first 200.
            var sum = nonce
            for place in stride(from: page.count - 200, to: 0, by: -200) { sum &+= UInt32(page[place]) }
            hasItsChecksum = Int(sum) == bytes.bigEndian(at: bytes.count - 4)
        }

        package func stands(in database: any PageSource) throws -> Bool {
            try database.read(page.count, at: Int64(number - 1) * Int64(page.count)) == page
        }
    }
}
