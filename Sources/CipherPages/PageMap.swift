package import CipherKeys

/// What each page of a database is.
package struct PageMap: Sendable {
    /// The kinds of page (sqlite.org/fileformat.html, section 1.2).
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// Rows of tables.
        case tableLeaf
        /// The way to rows.
        case tableInterior
        /// Entries of indexes, and rows of tables without row identifiers.
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

    /// From page 1 on.
    package private(set) var kinds: [Kind]

    /// Looks at every page, on all cores. What a page is, is read from pages that are authentic only.
    package init(
        database: any PageSource,
        log: (any PageSource)?,
        key: DerivedKey,
        format: CipherFormat,
        progress: (Int, Int) throws -> Void
    ) throws {
        let source = try NewestPages(database: database, log: log, pageSize: format.pageSize)
        let pipeline = try PagePipeline(source, pageSize: format.pageSize)
        let found = Lock([Kind](repeating: .damaged, count: pipeline.pageCount))
        try pipeline.run(progress: progress) {
            let cipher = try PageCipher(key: key, format: format)
            let plain = PlainPage(size: format.pageSize)
            return { batch in
                var kinds: [Kind] = []
                try batch.forEach { page, number in kinds.append(try plain.kind(of: page, number, cipher)) }
                let first = Int(batch.first) - 1
                found.withLock { [kinds] in $0.replaceSubrange(first..<(first + kinds.count), with: kinds) }
            }
        }
        kinds = found.withLock { $0 }
        try markFree(source, PageCipher(key: key, format: format))
    }

    /// Memory for one page, wiped at the end.
    private final class PlainPage {
        private let bytes: UnsafeMutableRawBufferPointer

        init(size: Int) {
            bytes = .allocate(byteCount: size, alignment: 16)
        }

        deinit {
            OpenSSL.cleanse(bytes)
            bytes.deallocate()
        }

        func kind(of page: UnsafeRawBufferPointer, _ number: UInt32, _ cipher: PageCipher) throws -> Kind {
            if cipher.format.isLockPage(number) { return .free }
            guard page.count == bytes.count, try cipher.isAuthentic(page, number: number) != false else {
                return .damaged
            }
            try cipher.decrypt(page, number: number, into: bytes)
            // > The one-byte flag at offset 0 indicating the b-tree page type; on page 1 behind the header of 100 bytes.
            return switch bytes[number == 1 ? 100 : 0] {
            case 0x02: .indexInterior
            case 0x05: .tableInterior
            case 0x0a: .indexLeaf
            case 0x0d: .tableLeaf
            default: .overflow
            }
        }
    }

    /// Follows the list of free pages: each trunk has the next one's number, how many leaves it names, and their numbers.
    private mutating func markFree(_ source: NewestPages, _ cipher: PageCipher) throws {
        guard kinds.first.map({ $0 != .damaged }) == true else { return }
        func page(_ number: Int) throws -> [UInt8] {
            let size = cipher.format.pageSize
            return try cipher.decrypt(source.read(size, at: Int64(number - 1) * Int64(size)), number: UInt32(number))
        }
        var trunk = try page(1).bigEndian(at: 32)
        while kinds.indices.contains(trunk - 1), kinds[trunk - 1] != .damaged, kinds[trunk - 1] != .free {
            kinds[trunk - 1] = .free
            let content = try page(trunk)
            let most = (content.count - cipher.format.reserve) / 4 - 2
            for index in 0..<min(most, content.bigEndian(at: 4)) {
                let leaf = content.bigEndian(at: 8 + 4 * index)
                // The content of a free leaf does not matter, nor whether it is damaged.
                if kinds.indices.contains(leaf - 1) { kinds[leaf - 1] = .free }
            }
            trunk = content.bigEndian(at: 0)
        }
    }
}
