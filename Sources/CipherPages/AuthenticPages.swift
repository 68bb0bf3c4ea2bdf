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
        self.source = source
        count = try Int((source.size() + Int64(format.pageSize) - 1) / Int64(format.pageSize))
        cipher = try PageCipher(key: key, format: format)
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
        // In format 1 a size can be anything, and a chain go round.
        guard payload.size <= count * usableSize else { return nil }
        var record = Array(payload.local)
        var next = payload.firstOverflow
        // > The first four bytes of each overflow page are the number of the next page in the chain, or zero.
        while record.count < payload.size {
            guard let number = next, let page = try page(number) else { return nil }
            record += page[4..<usableSize].prefix(payload.size - record.count)
            next = page.bigEndian(at: 0)
        }
        return StoredValue.values(ofRecord: record)
    }
}
