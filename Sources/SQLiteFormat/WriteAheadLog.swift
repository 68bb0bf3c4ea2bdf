internal import CipherSystem

/// The pages that stand in a `-wal` file, where they are newer than the database's own.
///
/// Frame headers and page numbers are in clear, the pages in the form that they have in the database
/// (sqlite.org/fileformat.html, section 4).
package struct WriteAheadLog {
    /// Where the newest committed image of each page begins in the file.
    package private(set) var offsets: [UInt32: Int64] = [:]
    /// Where each image of page 1 begins, committed or not: the first thing a recovery may bring back.
    package private(set) var firstPages: [Int64] = []
    package let pageSize: Int
    /// Pages that the database has after the last transaction; nil without one.
    package private(set) var pageCount: Int?

    /// Reads the index of `source`; nil where it is empty or not a write-ahead log.
    ///
    /// - Parameter frames: How many frames are looked at; nil for all that have the header's salts.
    package init?(_ source: some PageSource, frames: Int? = nil) throws {
        let header = try source.read(32, at: 0)
        guard header.count == 32, header[0..<3] == [0x37, 0x7f, 0x06], header[3] | 1 == 0x83 else { return nil }
        pageSize = header.bigEndian(at: 8)
        guard pageSize >= 512, pageSize <= 65536 else { return nil }
        let salts = header[16..<24]
        let end = try min(source.size(), frames.map { 32 + Int64($0) * Int64(24 + pageSize) } ?? .max)
        var offset: Int64 = 32
        var pending: [UInt32: Int64] = [:]
        while offset + Int64(24 + pageSize) <= end {
            let frame = try source.read(24, at: offset)
            // > A frame is considered valid if the salt values in its header match those of the WAL header.
            // The checksums are not looked at: each page is authenticated by its HMAC.
            guard frame.count == 24, frame[8..<16] == salts else { break }
            let number = UInt32(frame.bigEndian(at: 0))
            // No page has the number 0; a file that was made long without being written ends here.
            guard number > 0 else { break }
            pending[number] = offset + 24
            if number == 1 { firstPages.append(offset + 24) }
            // > For commit records, the size of the database file in pages after the commit. For all others, zero.
            let count = frame.bigEndian(at: 4)
            if count != 0 {
                pageCount = count
                offsets.merge(pending) { $1 }
                pending.removeAll()
            }
            offset += Int64(24 + pageSize)
        }
    }
}
