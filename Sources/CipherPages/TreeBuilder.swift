internal import CipherSystem
internal import SQLiteFormat

/// Fills the pages of a b-tree with entries that come in their order, from the leaves up.
final class TreeBuilder {
    /// An entry without the number of a child, and the page on which the rest of its record begins.
    private struct Cell {
        var bytes: [UInt8] = []
        var overflow: Int?
    }

    /// A page and what stands between it and the next one; nil behind the last.
    private struct Child {
        let page: Int
        let separator: Cell?
    }

    private let root: Int
    private let isTable: Bool
    private let pages: NewPages
    /// Of the leaf that is being filled.
    private var leaf: [Cell] = []
    private var leafSize = TreeBuilder.leafHeader
    private var lastRowID: Int64 = 0
    /// What did not fit into the leaf of an index: it comes between that and the next, if there is one.
    private var waiting: Cell?
    /// Of each level above the leaves, the children that stand on no page yet.
    private var levels: [[Child]] = []

    private static let leafHeader = 8
    private static let interiorHeader = 12

    init(root: Int, isTable: Bool, _ pages: NewPages) {
        self.root = root
        self.isTable = isTable
        self.pages = pages
    }

    func add(_ rowID: Int64?, _ record: [UInt8]) throws {
        guard (rowID != nil) == isTable else { throw DamagedTree(page: root) }
        let cell = try cell(rowID, record)
        if let separator = waiting {
            waiting = nil
            try endLeaf(separator)
        }
        let size = TreeBuilder.sizeOnLeaf(cell)
        if leafSize + size > pages.usableSize {
            guard isTable else {
                waiting = cell
                return
            }
            var separator = Cell()
            separator.bytes.append(varint: lastRowID)
            try endLeaf(separator)
        }
        leaf.append(cell)
        leafSize += size
        lastRowID = rowID ?? 0
    }

    /// Writes what is left, and the root.
    func finish() throws {
        if let last = waiting {
            // A leaf without entries would be damage.
            try endLeaf(leaf.removeLast())
            leaf = [last]
        }
        guard !levels.isEmpty else { return try writeRoot(leaf, rightChild: nil) }
        try endLeaf(nil)
        var level = 0
        while true {
            let fitting = fitting(levels[level])
            let children = levels[level]
            guard fitting == children.count else {
                // So that the last page has two.
                try endPage(level, children: fitting - 1)
                continue
            }
            guard level + 1 < levels.count else {
                return try writeRoot(cells(children), rightChild: children[fitting - 1].page)
            }
            try endPage(level, children: fitting)
            level += 1
        }
    }

    // MARK: Cells

    private func cell(_ rowID: Int64?, _ record: [UInt8]) throws -> Cell {
        var cell = Cell()
        cell.bytes.append(varint: Int64(record.count))
        if let rowID { cell.bytes.append(varint: rowID) }
        let local = BTreePage.localSize(of: record.count, isTable: isTable, usableSize: pages.usableSize)
        cell.bytes += record[..<local]
        if local < record.count {
            let first = try pages.writeOverflow(record[local...])
            cell.bytes.append(bigEndian: UInt64(first), count: 4)
            cell.overflow = first
        }
        return cell
    }

    /// > The smallest cell takes four bytes.
    private static func sizeOnLeaf(_ cell: Cell) -> Int { 2 + max(4, cell.bytes.count) }

    /// The separators of `children` but the last, each with the number of its page.
    private func cells(_ children: some Collection<Child>) -> [Cell] {
        children.dropLast().map { child in
            var bytes: [UInt8] = []
            bytes.append(bigEndian: UInt64(child.page), count: 4)
            return Cell(bytes: bytes + (child.separator?.bytes ?? []), overflow: child.separator?.overflow)
        }
    }

    /// How many children stand on one page at most.
    private func fitting(_ children: [Child]) -> Int {
        var used = TreeBuilder.interiorHeader
        for (index, child) in children.dropLast().enumerated() {
            used += 2 + 4 + (child.separator?.bytes.count ?? 0)
            if used > pages.usableSize { return index + 1 }
        }
        return children.count
    }

    // MARK: Pages

    private func endLeaf(_ separator: Cell?) throws {
        let number = try pages.allocate()
        try write(leaf, rightChild: nil, as: number)
        (leaf, leafSize) = ([], TreeBuilder.leafHeader)
        try add(Child(page: number, separator: separator), to: 0)
    }

    private func add(_ child: Child, to level: Int) throws {
        if level == levels.count { levels.append([]) }
        levels[level].append(child)
        // Two stay behind, for the last page.
        let fitting = fitting(levels[level])
        if levels[level].count >= fitting + 2 { try endPage(level, children: fitting) }
    }

    private func endPage(_ level: Int, children count: Int) throws {
        let children = levels[level].prefix(count)
        let number = try pages.allocate()
        guard let last = children.last else { throw DamagedTree(page: root) }
        try write(cells(children), rightChild: last.page, as: number)
        levels[level].removeFirst(count)
        try add(Child(page: number, separator: last.separator), to: level + 1)
    }

    private func writeRoot(_ cells: [Cell], rightChild: Int?) throws {
        let header = rightChild == nil ? TreeBuilder.leafHeader : TreeBuilder.interiorHeader
        let least = rightChild == nil ? 4 : 0
        let size = cells.reduce(header + NewPages.start(of: root)) { $0 + 2 + max(least, $1.bytes.count) }
        guard size > pages.usableSize else { return try write(cells, rightChild: rightChild, as: root) }
        // > Page 1 has 100 bytes less. It may have a right child only, other than every other page.
        let number = try pages.allocate()
        try write(cells, rightChild: rightChild, as: number)
        try write([], rightChild: number, as: root)
    }

    private func write(_ cells: [Cell], rightChild: Int?, as number: Int) throws {
        var page = [UInt8](repeating: 0, count: pages.pageSize)
        let start = NewPages.start(of: number)
        var pointer = start + (rightChild == nil ? TreeBuilder.leafHeader : TreeBuilder.interiorHeader)
        var content = pages.usableSize
        for cell in cells {
            content -= rightChild == nil ? max(4, cell.bytes.count) : cell.bytes.count
            page.replaceSubrange(content..<(content + cell.bytes.count), with: cell.bytes)
            page.put(content, at: pointer, count: 2)
            pointer += 2
            if let overflow = cell.overflow { pages.note(overflow, .firstOverflow, parent: number) }
            if rightChild != nil { pages.note(cell.bytes.bigEndian(at: 0), .treePage, parent: number) }
        }
        page[start] = (isTable ? 0x05 : 0x02) | (rightChild == nil ? 0x08 : 0)
        page.put(cells.count, at: start + 3, count: 2)
        // > offset 5: where the cells begin, 0 for 65536
        page.put(content & 0xffff, at: start + 5, count: 2)
        if let rightChild {
            page.put(rightChild, at: start + 8, count: 4)
            pages.note(rightChild, .treePage, parent: number)
        }
        try pages.write(page, as: number)
    }
}

extension [UInt8] {
    /// Writes a number of `count` bytes, the most significant first.
    mutating func put(_ number: Int, at offset: Int, count: Int) {
        for index in 0..<count { self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - index))) }
    }
}
