internal import CipherKeys
internal import CipherSystem
package import SQLiteFormat

/// Copies every b-tree of a database, entry by entry in its order, into a file whose pages have another size or another reserve.
///
/// Nothing is computed: no function, collation or module of the schema is called. Free pages are left out.
package struct TreeRewrite {
    private let from: PageCoding
    private let to: PageCoding

    package init(from: PageCoding, to: PageCoding) {
        self.from = from
        self.to = to
    }

    /// - Parameter progress: Called with the pages of `source` that were read, and all, about every mebibyte.
    /// - Throws: ``UnauthenticPage`` for a page whose MAC is wrong; ``DamagedTree``; what reading, writing and `progress` throw.
    package func run(
        _ source: any PageSource,
        into sink: any PageSink,
        progress: (_ done: Int, _ all: Int) throws -> Void
    ) throws {
        let reader = try TreeReader(source, from)
        let header = reader.header
        let pages = try NewPages(sink, to, hasPointerMaps: DatabaseHeader(header).autoVacuum > 0)
        var schema: [(rowID: Int64?, values: [StoredValue])] = []
        try reader.follow(1) { rowID, record in
            guard let values = StoredValue.values(ofRecord: record), values.count == 5 else {
                throw DamagedTree(page: 1)
            }
            schema.append((rowID, values))
        }
        // With pointer maps they must stand before all others.
        let trees = try schema.indices.compactMap { index -> (old: Int, new: Int)? in
            guard case .integer(let root) = schema[index].values[3], root != 0 else { return nil }
            let new = try pages.allocateRoot()
            schema[index].values[3] = .integer(Int64(new))
            return (Int(clamping: root), new)
        }
        for (old, new) in trees {
            try copy(new, from: reader, pages) { try reader.follow(old, progress: progress, $0) }
        }
        try copy(1, from: reader, pages) { add in
            for row in schema { try add(row.rowID, StoredValue.record(of: row.values)) }
        }
        try pages.finish(header)
    }

    private func copy(
        _ root: Int,
        from reader: TreeReader,
        _ pages: NewPages,
        _ entries: ((Int64?, [UInt8]) throws -> Void) throws -> Void
    ) throws {
        var builder: TreeBuilder?
        try entries { rowID, record in
            let tree = builder ?? TreeBuilder(root: root, isTable: rowID != nil, pages)
            builder = tree
            try tree.add(rowID, record)
        }
        try (builder ?? TreeBuilder(root: root, isTable: root == 1 || reader.isTable, pages)).finish()
    }
}

/// A page that is not what the way to it says.
package struct DamagedTree: Error, CustomStringConvertible {
    /// From 1.
    let page: Int

    package var description: String { "page \(page) is damaged, or the page that leads to it" }
}

/// Reads the entries of b-trees in their order.
private final class TreeReader {
    private let source: any PageSource
    private let codec: any PageCodec
    private let pageSize: Int
    private let usableSize: Int
    private let buffer: PageBuffer
    private var isRead: [Bool]
    private var readPages = 0
    /// Page 1.
    let header: [UInt8]
    /// Whether the tree that was followed last is a table's.
    private(set) var isTable = true

    init(_ source: any PageSource, _ coding: PageCoding) throws {
        self.source = source
        pageSize = coding.pageSize
        codec = try coding.codec()
        buffer = PageBuffer(pageSize: pageSize, capacity: 1)
        let count = try Int(source.size()) / pageSize
        isRead = Array(repeating: false, count: count + 1)
        header = try TreeReader.page(1, source, codec, buffer)
        // Without MACs anything can stand there.
        usableSize = max(480, pageSize - max(Int(header[20]), coding.format?.reserve ?? 0))
    }

    private static func page(
        _ number: Int,
        _ source: any PageSource,
        _ codec: any PageCodec,
        _ buffer: PageBuffer
    ) throws -> [UInt8] {
        let bytes = try source.read(buffer.pageSize, at: Int64(number - 1) * Int64(buffer.pageSize))
        guard bytes.count == buffer.pageSize else { throw UnauthenticPage(number: number) }
        try bytes.withUnsafeBytes {
            let page = PagePipeline.Batch(first: UInt32(number), pageSize: buffer.pageSize, bytes: $0)
            try codec.open(page, into: buffer)
        }
        return Array(buffer.page(0))
    }

    /// Reads a page, each once: in a sound database nothing else leads to it.
    private func page(_ number: Int) throws -> [UInt8] {
        guard isRead.indices.contains(number), number > 0, !isRead[number],
            !LockBytePage.isPage(UInt32(number), ofSize: pageSize)
        else { throw DamagedTree(page: number) }
        isRead[number] = true
        readPages += 1
        return try TreeReader.page(number, source, codec, buffer)
    }

    /// Calls `body` with each entry of the tree that has its root on page `root`: the rowid, and the record.
    func follow(
        _ root: Int,
        progress: (Int, Int) throws -> Void = { _, _ in },
        _ body: (Int64?, [UInt8]) throws -> Void
    ) throws {
        try follow(root, kind: nil, depth: 0, progress, body)
    }

    private func follow(
        _ number: Int,
        kind: PageKind?,
        depth: Int,
        _ progress: (Int, Int) throws -> Void,
        _ body: (Int64?, [UInt8]) throws -> Void
    ) throws {
        // > The depth of a b-tree is limited to 20.
        guard depth <= 20, let page = BTreePage(try page(number), number: number, usableSize: usableSize),
            kind == nil || kind?.isTable == page.kind.isTable
        else { throw DamagedTree(page: number) }
        isTable = page.kind.isTable
        if readPages % 256 == 0 { try progress(readPages, isRead.count - 1) }
        for index in 0..<page.cellCount {
            guard let cell = page.cell(index) else { throw DamagedTree(page: number) }
            if let child = cell.leftChild { try follow(child, kind: page.kind, depth: depth + 1, progress, body) }
            if let payload = cell.payload { try body(cell.rowID, record(payload, on: number)) }
        }
        if let child = page.rightChild { try follow(child, kind: page.kind, depth: depth + 1, progress, body) }
    }

    private func record(_ payload: BTreePage.Payload, on number: Int) throws -> [UInt8] {
        let most = isRead.count * usableSize
        guard let record = try payload.record(usableSize: usableSize, most: most, page) else {
            throw DamagedTree(page: number)
        }
        return record
    }
}
