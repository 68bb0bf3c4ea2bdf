package import CipherKeys
internal import CipherSystem
package import SQLiteFormat

/// The content of a database's pages, one at a time; nothing but what was written under the key.
package final class AuthenticPages {
    package let source: NewestPages
    /// How many pages the database has; one at the end that is not whole counts.
    package let count: Int
    private let cipher: PageCipher

    package init(_ source: NewestPages, key: DerivedKey, format: CipherFormat) throws {
        let cipher = try PageCipher(key: key, format: format)
        self.cipher = cipher
        self.source = try source.proved(by: cipher)
        count = try Int((self.source.size() + Int64(format.pageSize) - 1) / Int64(format.pageSize))
    }

    /// Bytes of a page that SQLite uses.
    ///
    /// > offset 20: bytes of unused space at the end of each page
    /// SQLCipher 4 reserves more than format 1 needs in the files that it makes itself.
    package private(set) lazy var usableSize: Int = {
        let size = cipher.format.pageSize
        guard let reserve = try? page(1).map({ Int($0[20]) }), reserve >= cipher.format.reserve, reserve <= size - 480
        else { return size - cipher.format.reserve }
        return size - reserve
    }()

    /// The plaintext of page `number`; nil where there is none, or it is not what was written.
    package func page(_ number: Int) throws -> [UInt8]? {
        let size = cipher.format.pageSize
        guard (1...max(1, count)).contains(number), !LockBytePage.isPage(UInt32(number), ofSize: size) else {
            return nil
        }
        let page = try source.read(size, at: Int64(number - 1) * Int64(size))
        guard page.count == size, try cipher.isAuthentic(page, number: UInt32(number)) != false else { return nil }
        return try cipher.decrypt(page, number: UInt32(number))
    }

    /// The numbers of the pages that the header counts and the file does not have.
    package func missing() throws -> Range<Int> {
        try PagesInHeaderSize(source, cipher).missing
    }

    /// Whether authentic pages stand behind those that the header counts.
    package func hasPagesBeyondHeaderSize() throws -> Bool {
        let counted = try Int(PagesInHeaderSize(source, cipher).size()) / cipher.format.pageSize
        guard cipher.format.pageAuthentication != nil, counted < count else { return false }
        return try page(counted + 1) != nil
    }

    /// The page as one of a b-tree; nil also where it is none.
    package func treePage(_ number: Int) throws -> BTreePage? {
        try page(number).flatMap { BTreePage($0, number: number, usableSize: usableSize) }
    }

    /// The values of a record that begins in `payload`; nil where a page with a part of it is lost, or it makes no sense.
    package func values(_ payload: BTreePage.Payload) throws -> [StoredValue]? {
        try payload.record(usableSize: usableSize, most: count * usableSize, page)
            .flatMap(StoredValue.values(ofRecord:))
    }
}

extension NewestPages {
    /// ``proving(_:)``, by the MACs of the pages.
    func proved(by cipher: PageCipher) throws -> NewestPages {
        try proving { try cipher.isAuthentic($0, number: $1) == true }
    }
}

/// The pages that the header counts. A file may be longer, such as one that somebody has made longer; with a hole, that costs him
/// nothing, and reading it takes hours.
struct PagesInHeaderSize: PageSource {
    private let pages: any PageSource
    private let count: Int64
    /// The numbers of the pages that the header counts and the file does not have, in a file that was cut off.
    let missing: Range<Int>
    /// Whether bytes that are no whole page stand behind the pages that the header counts.
    let endsInSurplus: Bool

    /// All of `pages` where the first one is not authentic, since nothing that it says is to be believed then.
    init(_ pages: any PageSource, _ cipher: PageCipher) throws {
        self.pages = pages
        let first = try pages.read(cipher.format.pageSize, at: 0)
        let size = try pages.size()
        guard try cipher.isAuthentic(first, number: 1) == true else {
            count = size
            missing = 0..<0
            endsInSurplus = false
            return
        }
        let pageSize = Int64(cipher.format.pageSize)
        let counted = try Int64(DatabaseHeader(cipher.decrypt(first, number: 1)).pageCount)
        count = counted == 0 ? size : min(size, counted * pageSize)
        // A page at the end that is not whole is damaged.
        let present = (size + pageSize - 1) / pageSize
        endsInSurplus = counted > 0 && present > counted && size % pageSize != 0
        missing = present < counted ? Int(present + 1)..<Int(counted + 1) : 0..<0
    }

    func size() throws -> Int64 { count }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try pages.read(into: buffer, at: offset)
    }
}
