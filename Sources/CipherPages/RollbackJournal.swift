/// A rollback journal that was not ended: what a crash leaves (sqlite.org/fileformat.html, section 3).
package struct RollbackJournal {
    /// Bytes in a page of its database.
    package let pageSize: Int
    private let source: any PageSource
    private let sectorSize: Int64

    /// > The first 8 bytes of a valid journal header
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// Nil where `source` is no journal, or one that was ended.
    package init?(_ source: some PageSource) throws {
        let header = try source.read(28, at: 0)
        guard header.count == 28, header.starts(with: RollbackJournal.magic) else { return nil }
        sectorSize = Int64(header.bigEndian(at: 20))
        pageSize = header.bigEndian(at: 24)
        guard (32...65536).contains(sectorSize), (512...65536).contains(pageSize) else { return nil }
        self.source = source
    }

    /// Page 1 as it was before the transaction, in the form that it has in the file; nil where the transaction had not
    /// touched it.
    package func firstPage() throws -> [UInt8]? {
        let end = try source.size()
        var segment: Int64 = 0
        while segment + 28 <= end {
            let header = try source.read(28, at: segment)
            guard header.starts(with: RollbackJournal.magic) else { return nil }
            // > The page count is -1 (0xffffffff) where all records to the end of the file count, and 0 before a sync.
            let count = header.bigEndian(at: 8)
            var offset = segment + sectorSize
            var records = 0
            while offset + Int64(8 + pageSize) <= end, records < count || count == 0 {
                if try source.read(4, at: offset) == [0, 0, 0, 1] { return try source.read(pageSize, at: offset + 4) }
                offset += Int64(8 + pageSize)
                records += 1
            }
            segment = (offset + sectorSize - 1) / sectorSize * sectorSize
        }
        return nil
    }
}
