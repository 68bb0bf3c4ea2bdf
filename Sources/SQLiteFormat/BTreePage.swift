internal import CipherSystem

/// The kinds of pages of a database (sqlite.org/fileformat.html, section 1.2).
public enum PageKind: String, Sendable, CaseIterable {
    /// Rows of tables.
    case tableLeaf
    /// The way to rows.
    case tableInterior
    /// Entries of indexes, and rows of WITHOUT ROWID tables.
    case indexLeaf
    /// The way to entries.
    case indexInterior
    /// What did not fit into a row's page, and the pointer map of `auto_vacuum`.
    case overflow
    /// Not used at present.
    case free
    /// Not what was written.
    case damaged
}

extension PageKind {
    /// The kind of a page of a b-tree; nil for another flag.
    ///
    /// > The one-byte flag at offset 0 indicating the b-tree page type; on page 1 behind the header of 100 bytes.
    package init?(bTreeFlag: UInt8) {
        switch bTreeFlag {
        case 0x02: self = .indexInterior
        case 0x05: self = .tableInterior
        case 0x0a: self = .indexLeaf
        case 0x0d: self = .tableLeaf
        default: return nil
        }
    }

    package var isTable: Bool { self == .tableInterior || self == .tableLeaf }
    package var isLeaf: Bool { self == .tableLeaf || self == .indexLeaf }
}

/// A page of a b-tree (sqlite.org/fileformat.html, section 1.6), read without trusting anything that stands in it.
package struct BTreePage {
    /// What one cell holds.
    package struct Cell {
        /// The page with what comes before it; nil on leaves.
        package var leftChild: Int?
        /// In tables only.
        package var rowID: Int64?
        /// Nil on the interior pages of tables.
        package var payload: Payload?
    }

    /// A record, or its beginning, the rest of which stands on overflow pages.
    package struct Payload {
        package let size: Int
        package let local: ArraySlice<UInt8>
        package let firstOverflow: Int?
    }

    package let kind: PageKind
    package let cellCount: Int
    /// The page with what comes behind the last cell; nil on leaves.
    package let rightChild: Int?
    private let bytes: [UInt8]
    private let usableSize: Int
    private let pointers: Int

    /// Nil where page `number`, which has `bytes`, is no page of a b-tree.
    package init?(_ bytes: [UInt8], number: Int, usableSize: Int) {
        // > Page 1 begins with the database header, of 100 bytes.
        let start = number == 1 ? 100 : 0
        guard let kind = PageKind(bTreeFlag: bytes[start]) else { return nil }
        self.kind = kind
        self.bytes = bytes
        self.usableSize = usableSize
        cellCount = bytes.bigEndian16(at: start + 3)
        pointers = start + (kind.isLeaf ? 8 : 12)
        guard pointers + 2 * cellCount <= usableSize else { return nil }
        rightChild = kind.isLeaf ? nil : bytes.bigEndian(at: start + 8)
    }

    /// Nil where there is none that makes sense.
    package func cell(_ index: Int) -> Cell? {
        var reader = ByteReader(bytes[..<usableSize], at: bytes.bigEndian16(at: pointers + 2 * index))
        var cell = Cell()
        if !kind.isLeaf {
            guard let child = reader.bigEndian32() else { return nil }
            cell.leftChild = child
        }
        if kind == .tableInterior {
            guard let key = reader.varint() else { return nil }
            cell.rowID = key
            return cell
        }
        guard let size = reader.varint().flatMap({ Int(exactly: $0) }), size >= 0 else { return nil }
        if kind == .tableLeaf {
            guard let rowID = reader.varint() else { return nil }
            cell.rowID = rowID
        }
        let localSize = BTreePage.localSize(of: size, isTable: kind.isTable, usableSize: usableSize)
        guard let local = reader.bytes(localSize) else { return nil }
        var overflow: Int?
        if localSize < size {
            overflow = reader.bigEndian32()
            guard overflow != nil else { return nil }
        }
        cell.payload = Payload(size: size, local: local, firstOverflow: overflow)
        return cell
    }

    /// How many bytes of a record of `size` bytes stand on a page with `usableSize` bytes, of a table or of what is ordered by content.
    ///
    /// > U is the usable size, P the payload. X is U-35 for table leaf pages, ((U-12)*64/255)-23 for index pages.
    /// > M is ((U-12)*32/255)-23, K is M+((P-M)%(U-4)). Up to X all is stored; else K bytes if K is at most X, else M.
    package static func localSize(of size: Int, isTable: Bool, usableSize: Int) -> Int {
        let most = isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
        if size <= most { return size }
        let least = (usableSize - 12) * 32 / 255 - 23
        let fitting = least + (size - least) % (usableSize - 4)
        return fitting <= most ? fitting : least
    }
}

extension BTreePage.Payload {
    /// The record; nil where a page with a part of it is lost, or it makes no sense.
    ///
    /// - Parameters:
    ///   - most: Bytes that the database can hold.
    ///   - page: Reads an overflow page.
    package func record(
        usableSize: Int,
        most: Int,
        _ page: (_ number: Int) throws -> [UInt8]?
    ) rethrows -> [UInt8]? {
        // In format 1 a size can be anything, and a chain go round.
        guard size <= most else { return nil }
        var record = Array(local)
        var next = firstOverflow
        // > The first four bytes of each overflow page are the number of the next page in the chain, or zero.
        while record.count < size {
            guard let number = next, let page = try page(number) else { return nil }
            record += page[4..<usableSize].prefix(size - record.count)
            next = page.bigEndian(at: 0)
        }
        return record
    }
}

/// The pages that say what the others are, in a database with `auto_vacuum` (sqlite.org/fileformat.html, section 1.8).
package struct PointerMaps {
    private let pageSize: Int
    /// How many pages one has entries for.
    package let entries: Int

    package init(pageSize: Int, usableSize: Int) {
        self.pageSize = pageSize
        entries = usableSize / 5
    }

    /// The one that has the entry for page `number`, or that is this page.
    ///
    /// > Page 2 is a pointer map, and each that follows the pages which one has entries for, of 5 bytes each. If it would be
    /// > the page with the locks, it is the next.
    package func map(of number: Int) -> Int {
        let map = (number - 2) / (entries + 1) * (entries + 1) + 2
        return LockBytePage.isPage(UInt32(clamping: map), ofSize: pageSize) ? map + 1 : map
    }

    /// All of a database with so many pages.
    package func all(in count: Int) -> [Int] {
        stride(from: 2, through: count, by: entries + 1).map(map(of:)).filter { $0 <= count }
    }
}

/// The page that SQLite never uses, because its locks are there.
package enum LockBytePage {
    /// > The lock-byte page is the single page of the database file that contains the bytes at offsets between 1073741824 and 1073742335
    /// (sqlite.org/fileformat.html, section 1.5). It stays as the file system made it.
    package static func isPage(_ number: UInt32, ofSize pageSize: Int) -> Bool {
        Int64(number - 1) * Int64(pageSize) == 1 << 30
    }
}
