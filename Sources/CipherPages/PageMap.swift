package import CipherKeys
internal import CipherSystem
package import SQLiteFormat

/// What each page of a database is.
package struct PageMap: Sendable {
    /// From page 1 on.
    package private(set) var kinds: [PageKind]
    /// Whether every page that is not used is known as such.
    package private(set) var isFreeListWhole = false

    /// Looks at every page, on all cores. What a page is, is read from pages that are authentic only.
    package init(
        _ source: NewestPages,
        key: DerivedKey,
        format: CipherFormat,
        progress: (Int, Int) throws -> Void
    ) throws {
        let source = try source.proved(by: PageCipher(key: key, format: format))
        let pipeline = try PagePipeline(source, pageSize: format.pageSize)
        let found = Lock([PageKind](repeating: .damaged, count: pipeline.pageCount))
        try pipeline.run(progress: progress) {
            let cipher = try PageCipher(key: key, format: format)
            let buffer = PageBuffer(pageSize: format.pageSize, capacity: 1)
            return { batch in
                var kinds: [PageKind] = []
                try batch.forEach { page, number in
                    kinds.append(try PageMap.kind(of: page, number, cipher, buffer.page(0)))
                }
                let first = Int(batch.first) - 1
                found.withLock { [kinds] in $0.replaceSubrange(first..<(first + kinds.count), with: kinds) }
            }
        }
        kinds = found.withLock { $0 }
        let pages = try AuthenticPages(source, key: key, format: format)
        guard let first = try pages.page(1) else { return }
        if DatabaseHeader(first).autoVacuum > 0 { markPointerMaps(pages, format) }
        try markFree(first, pages)
    }

    private static func kind(
        of page: UnsafeRawBufferPointer,
        _ number: UInt32,
        _ cipher: PageCipher,
        _ plain: UnsafeMutableRawBufferPointer
    ) throws -> PageKind {
        if LockBytePage.isPage(number, ofSize: cipher.format.pageSize) { return .free }
        guard page.count == plain.count, try cipher.isAuthentic(page, number: number) != false else { return .damaged }
        try cipher.decrypt(page, number: number, into: plain)
        return PageKind(bTreeFlag: plain[number == 1 ? 100 : 0]) ?? .overflow
    }

    private mutating func markPointerMaps(_ pages: AuthenticPages, _ format: CipherFormat) {
        let maps = PointerMaps(pageSize: format.pageSize, usableSize: pages.usableSize)
        for map in maps.all(in: kinds.count) where kinds[map - 1] != .damaged { kinds[map - 1] = .overflow }
    }

    /// Follows the list of free pages: each trunk has the next one's number, how many leaves it names, and their numbers.
    private mutating func markFree(_ first: [UInt8], _ pages: AuthenticPages) throws {
        var trunk = first.bigEndian(at: 32)
        var count = 0
        while kinds.indices.contains(trunk - 1), kinds[trunk - 1] != .free, let content = try pages.page(trunk) {
            let leaves = content.bigEndian(at: 4)
            // Of an older page 1 the list may lead to a page that has another use since.
            guard leaves <= pages.usableSize / 4 - 2 else { break }
            kinds[trunk - 1] = .free
            count += 1
            for index in 0..<leaves {
                let leaf = content.bigEndian(at: 8 + 4 * index)
                // The content of a free leaf does not matter, nor whether it is damaged.
                if kinds.indices.contains(leaf - 1) { kinds[leaf - 1] = .free }
                count += 1
            }
            trunk = content.bigEndian(at: 0)
        }
        // > offset 36: the total number of free pages
        isFreeListWhole = count == first.bigEndian(at: 36)
    }
}
