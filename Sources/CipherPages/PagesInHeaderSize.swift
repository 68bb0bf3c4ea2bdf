internal import CipherKeys
internal import SQLiteFormat

/// The pages that the header counts. A file may be longer, such as one that somebody has made longer; with a hole, that costs him
/// nothing, and reading it takes hours.
struct PagesInHeaderSize: PageSource {
    private let pages: any PageSource
    private let count: Int64
    /// The numbers of the pages that the header counts and the file does not have, in a file that was cut off.
    let missing: Range<Int>

    /// All of `pages` where the first one is not authentic, since nothing that it says is to be believed then.
    init(_ pages: any PageSource, _ cipher: PageCipher) throws {
        self.pages = pages
        let first = try pages.read(cipher.format.pageSize, at: 0)
        let size = try pages.size()
        guard try cipher.isAuthentic(first, number: 1) == true else {
            count = size
            missing = 0..<0
            return
        }
        let pageSize = Int64(cipher.format.pageSize)
        let counted = try Int64(DatabaseHeader(cipher.decrypt(first, number: 1)).pageCount)
        count = counted == 0 ? size : min(size, counted * pageSize)
        // A page at the end that is not whole is damaged.
        let present = (size + pageSize - 1) / pageSize
        missing = present < counted ? Int(present + 1)..<Int(counted + 1) : 0..<0
    }

    func size() throws -> Int64 { count }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try pages.read(into: buffer, at: offset)
    }
}
