internal import CipherKeys
internal import SQLiteFormat

/// The pages of a new database, which get their numbers one after the other.
final class NewPages {
    /// What a pointer map says of a page (sqlite.org/fileformat.html, section 1.8).
    enum Use: UInt8 {
        case root = 1
        case firstOverflow = 3
        case laterOverflow = 4
        case treePage = 5
    }

    let pageSize: Int
    let usableSize: Int
    private let sink: any PageSink
    private let codec: any PageCodec
    private let reserve: Int
    /// Nil without pointer maps.
    private let maps: PointerMaps?
    private var count = 1
    private var lastRoot = 1
    private var firstPage: [UInt8] = []
    /// For each page from 1 the use and the parent; empty without pointer maps.
    private var uses: [(use: UInt8, parent: UInt32)] = []
    /// Pages that follow one another and are not written yet.
    private let batch: PageBuffer
    private var batchFirst = 0
    private var batchCount = 0
    private let sealed: UnsafeMutableRawBufferPointer

    init(_ sink: any PageSink, _ coding: PageCoding, hasPointerMaps: Bool) throws {
        self.sink = sink
        pageSize = coding.pageSize
        reserve = coding.format?.reserve ?? 0
        usableSize = pageSize - reserve
        maps = hasPointerMaps ? PointerMaps(pageSize: pageSize, usableSize: usableSize) : nil
        codec = try coding.codec()
        batch = PageBuffer(pageSize: pageSize)
        sealed = .allocate(byteCount: pageSize * PageBuffer.capacity, alignment: 4096)
    }

    deinit {
        sealed.deallocate()
    }

    /// > Page 1 begins with the database header, of 100 bytes.
    static func start(of number: Int) -> Int { number == 1 ? 100 : 0 }

    // MARK: Numbers

    func allocate() throws -> Int {
        repeat { count += 1 } while isReserved(count)
        guard count < UInt32.max else { throw TooManyPages(count: count) }
        return count
    }

    func allocateRoot() throws -> Int {
        lastRoot = try allocate()
        note(lastRoot, .root, parent: 0)
        return lastRoot
    }

    private func isReserved(_ number: Int) -> Bool {
        LockBytePage.isPage(UInt32(clamping: number), ofSize: pageSize)
            || maps?.map(of: number) == number
    }

    /// Notes for the pointer map what a page is, and which one leads to it.
    func note(_ number: Int, _ use: Use, parent: Int) {
        guard maps != nil else { return }
        while uses.count < number { uses.append((0, 0)) }
        uses[number - 1] = (use.rawValue, UInt32(clamping: parent))
    }

    // MARK: Writing

    /// Writes what is left of a record; returns the first of its pages.
    func writeOverflow(_ rest: ArraySlice<UInt8>) throws -> Int {
        let first = try allocate()
        var (number, position) = (first, rest.startIndex)
        while true {
            let part = rest[position...].prefix(usableSize - 4)
            position = part.endIndex
            let next = position < rest.endIndex ? try allocate() : 0
            var page = [UInt8](repeating: 0, count: pageSize)
            page.put(next, at: 0, count: 4)
            page.replaceSubrange(4..<(4 + part.count), with: part)
            try write(page, as: number)
            guard next > 0 else { return first }
            note(next, .laterOverflow, parent: number)
            number = next
        }
    }

    func write(_ page: [UInt8], as number: Int) throws {
        if number == 1 {
            firstPage = page
            return
        }
        if batchCount == PageBuffer.capacity || number != batchFirst + batchCount { try writeBatch() }
        if batchCount == 0 { batchFirst = number }
        batch.page(batchCount).copyBytes(from: page)
        batchCount += 1
    }

    private func writeBatch() throws {
        guard batchCount > 0 else { return }
        let pages = UnsafeMutableRawBufferPointer(rebasing: sealed[..<(batchCount * pageSize)])
        try codec.seal(batch, first: UInt32(batchFirst), count: batchCount, into: pages)
        try sink.write(UnsafeRawBufferPointer(pages), at: Int64(batchFirst - 1) * Int64(pageSize))
        batchCount = 0
    }

    /// Writes the pointer maps, and page 1 with what `header` says of the old database.
    func finish(_ header: [UInt8]) throws {
        if let maps { try write(maps) }
        firstPage.replaceSubrange(..<100, with: header[..<100])
        // > offset 16: the page size, 1 for 65536; 20: reserved bytes; 28: pages; 32, 36: free pages; 52: the largest root page
        firstPage.put(pageSize == 65536 ? 1 : pageSize, at: 16, count: 2)
        firstPage[20] = UInt8(reserve)
        firstPage.put(count, at: 28, count: 4)
        firstPage.put(0, at: 32, count: 8)
        if maps != nil { firstPage.put(lastRoot, at: 52, count: 4) }
        // > offset 92: the change counter, at 24, for which the number of pages is right
        firstPage.replaceSubrange(92..<96, with: header[24..<28])
        try writeBatch()
        (batchFirst, batchCount) = (1, 1)
        batch.page(0).copyBytes(from: firstPage)
        try writeBatch()
    }

    private func write(_ maps: PointerMaps) throws {
        for map in maps.all(in: count) {
            var page = [UInt8](repeating: 0, count: pageSize)
            for index in 0..<maps.entries where uses.indices.contains(map + index) {
                page[5 * index] = uses[map + index].use
                page.put(Int(uses[map + index].parent), at: 5 * index + 1, count: 4)
            }
            try write(page, as: map)
        }
    }
}
