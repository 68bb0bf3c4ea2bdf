internal import CipherKeys

/// Where a block, or a node of the tree, is in the repository, and what its bytes are. Its size follows from what it is.
struct BlockReference: Hashable, Sendable {
    let segment: SegmentIdentifier
    /// Of its first byte in the segment.
    let offset: UInt64
    let digest: Digest

    /// As stored: segment, offset, digest.
    static let size = SegmentIdentifier.size + 8 + Digest.size

    init(segment: SegmentIdentifier, offset: UInt64, digest: Digest) {
        self.segment = segment
        self.offset = offset
        self.digest = digest
    }

    /// That of a block of zeros, which is stored nowhere: 56 zeros.
    static let zeros = [UInt8](repeating: 0, count: size).withUnsafeBytes { BlockReference($0) }

    /// The first 56 of `bytes`.
    init(_ bytes: UnsafeRawBufferPointer) {
        segment = SegmentIdentifier(bytes)
        offset = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: SegmentIdentifier.size, as: UInt64.self))
        digest = Digest(UnsafeRawBufferPointer(rebasing: bytes[(SegmentIdentifier.size + 8)...]))
    }

    /// Those in a node.
    static func all(in node: [UInt8]) -> [BlockReference] {
        node.withUnsafeBytes { node in
            stride(from: 0, to: node.count, by: size).map {
                BlockReference(UnsafeRawBufferPointer(rebasing: node[$0...]))
            }
        }
    }

    /// The node with these references.
    static func node(of references: [BlockReference]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: references.count * size) { bytes, count in
            let bytes = UnsafeMutableRawBufferPointer(bytes)
            for (place, reference) in references.enumerated() {
                reference.segment.copy(to: bytes.baseAddress! + place * size)
                let rest = bytes.baseAddress! + place * size + SegmentIdentifier.size
                rest.storeBytes(of: reference.offset.bigEndian, as: UInt64.self)
                reference.digest.withUnsafeBytes {
                    (rest + 8).copyMemory(from: $0.baseAddress!, byteCount: Digest.size)
                }
            }
            count = bytes.count
        }
    }
}

extension FixedWidthInteger {
    /// Its bytes, the most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

/// The references to the blocks of a state, in their order. Of a large database a file has them, and memory only nodes that were
/// changed since.
struct BlockReferences: Sendable {
    let count: Int
    /// What is not in the file, or newer than there: nodes, by their indexes.
    private var changed: [Int: [BlockReference]] = [:]
    private var file: ScratchFile?
    /// How many references of the file are these; what follows them is zeros.
    private var filed = 0

    /// 7 MiB: of a database of 512 MiB all are in memory.
    static let mostChanged = 1024
    private static let nodeSize = BlockTree.fanOut * BlockReference.size

    /// References to blocks of zeros.
    init(count: Int) {
        self.count = count
    }

    /// Those that both have, and zeros.
    init(count: Int, keeping other: BlockReferences) throws {
        self.count = count
        (file, filed) = (other.file, min(other.filed, count))
        for (number, node) in other.changed where number * BlockTree.fanOut < count {
            let missing = max(0, length(number) - node.count)
            changed[number] = node.prefix(length(number)) + Array(repeating: .zeros, count: missing)
        }
    }

    /// How many nodes they are.
    var nodeCount: Int { (count + BlockTree.fanOut - 1) / BlockTree.fanOut }

    private func length(_ number: Int) -> Int { min(BlockTree.fanOut, count - number * BlockTree.fanOut) }

    /// The references of a node.
    func node(_ number: Int) throws -> [BlockReference] {
        if let node = changed[number] { return node }
        let length = length(number)
        let present = max(0, min(length, filed - number * BlockTree.fanOut))
        guard let file, present > 0 else { return Array(repeating: .zeros, count: length) }
        var bytes = [UInt8](repeating: 0, count: length * BlockReference.size)
        try bytes.withUnsafeMutableBytes { bytes in
            let buffer = UnsafeMutableRawBufferPointer(rebasing: bytes[..<(present * BlockReference.size)])
            _ = try file.read(into: buffer, at: Int64(number) * Int64(BlockReferences.nodeSize))
        }
        return BlockReference.all(in: bytes)
    }

    /// Whether nobody has to read the node to know that `other` has the same.
    func isKnownToShare(_ number: Int, with other: BlockReferences) -> Bool {
        guard let file, file === other.file, changed[number] == nil, other.changed[number] == nil else { return false }
        let end = number * BlockTree.fanOut + length(number)
        return end <= filed && end <= other.filed && length(number) == other.length(number)
    }

    mutating func set(_ reference: BlockReference, at index: Int) throws {
        let number = index / BlockTree.fanOut
        if changed[number] == nil { try set(node(number), at: number) }
        changed[number]![index % BlockTree.fanOut] = reference
    }

    mutating func set(_ node: [BlockReference], at number: Int) throws {
        if changed.count >= BlockReferences.mostChanged { try flush() }
        changed[number] = node
    }

    /// Writes what was changed to the file, or to a copy where others need it as it is.
    private mutating func flush() throws {
        if file == nil || !isKnownUniquelyReferenced(&file) {
            let own = try ScratchFile()
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let end = Int64(filed) * Int64(BlockReference.size)
            var position: Int64 = 0
            while let file, position < end {
                let read = try bytes.withUnsafeMutableBytes { bytes in
                    let count = Int(min(Int64(bytes.count), end - position))
                    let read = try file.read(
                        into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]),
                        at: position
                    )
                    try own.write(UnsafeRawBufferPointer(rebasing: bytes[..<read]), at: position)
                    return read
                }
                guard read > 0 else { break }
                position += Int64(read)
            }
            file = own
        }
        // Left by a state that had more blocks.
        var position = Int64(filed) * Int64(BlockReference.size)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let end = try file?.size() ?? 0
        while position < end {
            let count = Int(min(end - position, Int64(zeros.count)))
            try zeros.withUnsafeBytes { try file?.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: position) }
            position += Int64(count)
        }
        filed = count
        for (number, node) in changed.sorted(by: { $0.key < $1.key }) {
            let offset = Int64(number) * Int64(BlockReferences.nodeSize)
            try BlockReference.node(of: node).withUnsafeBytes { try file?.write($0, at: offset) }
        }
        changed = [:]
    }
}

/// Reads references one by one: the last node stays in memory.
struct ReferenceCursor {
    private let references: BlockReferences
    private var number = -1
    private var node: [BlockReference] = []

    init(_ references: BlockReferences) {
        self.references = references
    }

    /// Nil where there is none.
    mutating func reference(_ index: Int) throws -> BlockReference? {
        guard 0..<references.count ~= index else { return nil }
        if index / BlockTree.fanOut != number {
            node = try references.node(index / BlockTree.fanOut)
            number = index / BlockTree.fanOut
        }
        return node[index % BlockTree.fanOut]
    }
}
