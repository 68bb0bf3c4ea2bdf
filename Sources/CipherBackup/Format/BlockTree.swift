internal import CipherKeys

/// The references to all blocks of a state of the database, in a tree of nodes, each of which has the references of up to 128 blocks or
/// nodes of the level below.
struct BlockTree: Sendable {
    /// The references to blocks, which the nodes of level 1 have.
    private(set) var blocks: BlockReferences
    /// The references to the nodes of level 1, then to those of each level above; the last has one, the root.
    private var nodes: [[BlockReference]]

    /// Bytes of a block: those of a page of the usual size. The last block of a database may be shorter.
    static let blockSize = 4096
    static let fanOut = 128
    /// More blocks than a database can have: 4,294,967,294 pages of 65,536 bytes are 2^48 bytes.
    private static let mostBlocks = 1 << 36

    /// A tree of zeros for a database of `size` bytes.
    init(size: Int64) {
        let counts = BlockTree.counts(size)
        blocks = BlockReferences(count: counts[0])
        nodes = counts.dropFirst().map { Array(repeating: .zeros, count: $0) }
    }

    /// How many references each level has, that of the root included.
    static func counts(_ size: Int64) -> [Int] {
        var counts = [blocks(in: size)]
        repeat { counts.append((counts.last! + fanOut - 1) / fanOut) } while counts.last! > 1
        return counts
    }

    /// A whole tree.
    ///
    /// - Parameter nodes: From level 1 to the root.
    init(_ blocks: BlockReferences, nodes: [[BlockReference]]) {
        self.blocks = blocks
        self.nodes = nodes
    }

    static func blocks(in size: Int64) -> Int {
        min(mostBlocks, Int((size + Int64(blockSize) - 1) / Int64(blockSize)))
    }

    var root: BlockReference { nodes.last![0] }

    /// The levels that have nodes: from 1.
    var levels: Range<Int> { 1..<(nodes.count + 1) }

    /// The indexes of the nodes of a level.
    func indexes(_ level: Int) -> Range<Int> { nodes[level - 1].indices }

    /// Takes over the references to the blocks that both have.
    mutating func keepBlocks(of other: BlockTree) throws {
        blocks = try BlockReferences(count: blocks.count, keeping: other.blocks)
    }

    /// What node `index` of `level` refers to.
    func children(_ level: Int, _ index: Int) throws -> [BlockReference] {
        guard level > 1 else { return try blocks.node(index) }
        return Array(nodes[level - 2][(index * BlockTree.fanOut)...].prefix(BlockTree.fanOut))
    }

    /// Where node `index` of `level` is, if the tree has it and it refers to the same as in `new`.
    func node(_ level: Int, _ index: Int, of new: BlockTree) throws -> BlockReference? {
        guard levels.contains(level), indexes(level).contains(index) else { return nil }
        let isSame =
            try level == 1 && blocks.isKnownToShare(index, with: new.blocks)
            || children(level, index) == new.children(level, index)
        return isSame ? nodes[level - 1][index] : nil
    }

    /// How many bytes of each segment are its blocks and nodes.
    func neededBytes() throws -> [SegmentIdentifier: Int] {
        var needed: [SegmentIdentifier: Int] = [:]
        for index in indexes(1) {
            for block in try blocks.node(index) { needed[block.segment, default: 0] += BlockTree.blockSize }
        }
        for level in levels {
            let below = level == 1 ? blocks.count : nodes[level - 2].count
            for (index, node) in nodes[level - 1].enumerated() {
                let children = min(BlockTree.fanOut, below - index * BlockTree.fanOut)
                needed[node.segment, default: 0] += children * BlockReference.size
            }
        }
        return needed
    }

    mutating func setBlock(_ reference: BlockReference, at index: Int) throws {
        try blocks.set(reference, at: index)
    }

    mutating func setNode(_ reference: BlockReference, level: Int, index: Int) {
        nodes[level - 1][index] = reference
    }
}
