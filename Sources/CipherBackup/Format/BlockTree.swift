internal import CipherKeys

/// The references to all blocks of a state of the database, in a tree of nodes, each of which has the references of up to 128 blocks or
/// nodes of the level below.
struct BlockTree: Sendable {
    /// Level 0 has the references to blocks, each level above the references to its nodes; the last has one, the root.
    private(set) var levels: [[BlockReference]]

    /// Bytes of a block: those of a page of the usual size. The last block of a database may be shorter.
    static let blockSize = 4096
    static let fanOut = 128
    /// More blocks than a database can have: 4,294,967,294 pages of 65,536 bytes are 2^48 bytes.
    private static let mostBlocks = 1 << 36

    /// A tree of zeros for a database of `size` bytes.
    init(size: Int64) {
        levels = BlockTree.counts(size).map { Array(repeating: .zeros, count: $0) }
    }

    /// How many references each level has, that of the root included.
    static func counts(_ size: Int64) -> [Int] {
        var counts = [blocks(in: size)]
        repeat { counts.append((counts.last! + fanOut - 1) / fanOut) } while counts.last! > 1
        return counts
    }

    /// - Parameter levels: Those of a whole tree.
    init(levels: [[BlockReference]]) {
        self.levels = levels
    }

    static func blocks(in size: Int64) -> Int {
        min(mostBlocks, Int((size + Int64(blockSize) - 1) / Int64(blockSize)))
    }

    var blocks: [BlockReference] { levels[0] }

    var root: BlockReference { levels.last![0] }

    /// Takes over the references to the blocks that both have.
    mutating func keepBlocks(of other: BlockTree) {
        let count = min(blocks.count, other.blocks.count)
        levels[0].replaceSubrange(..<count, with: other.blocks[..<count])
    }

    /// The places in the level below of what node `index` of `level` refers to.
    func children(level: Int, index: Int) -> Range<Int> {
        let first = index * BlockTree.fanOut
        return first..<min(first + BlockTree.fanOut, levels[level - 1].count)
    }

    /// How many bytes of each segment are its blocks and nodes.
    func neededBytes() -> [SegmentIdentifier: Int] {
        var needed: [SegmentIdentifier: Int] = [:]
        for block in blocks { needed[block.segment, default: 0] += BlockTree.blockSize }
        for level in 1..<levels.count {
            for (index, node) in levels[level].enumerated() {
                needed[node.segment, default: 0] += children(level: level, index: index).count * BlockReference.size
            }
        }
        return needed
    }

    /// The bytes of a node.
    func node(level: Int, index: Int) -> [UInt8] {
        levels[level - 1][children(level: level, index: index)].flatMap(\.bytes)
    }

    mutating func set(_ reference: BlockReference, level: Int, index: Int) {
        levels[level][index] = reference
    }
}
