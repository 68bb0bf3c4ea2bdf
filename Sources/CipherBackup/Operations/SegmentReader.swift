internal import CipherKeys
internal import SQLiteFormat

/// Reads blocks and nodes, each of which must have its digest. For one thread at a time.
final class SegmentReader {
    private let storage: any BackupStorage
    private let repository: [UInt8]
    private let segments: [SegmentIdentifier: SegmentSummary]
    private let nodesOnly: Bool
    private var opened: [SegmentIdentifier: any PageSource] = [:]
    private let hash: Cryptography.SHA256
    /// Each may be a descriptor.
    private static let mostOpened = 64

    /// - Parameter nodesOnly: Whether no block is read.
    init(_ storage: any BackupStorage, _ manifest: Manifest, nodesOnly: Bool) throws {
        self.storage = storage
        repository = manifest.repository
        segments = Dictionary(manifest.segments.map { ($0.identifier, $0) }) { $1 }
        self.nodesOnly = nodesOnly
        hash = try Cryptography.SHA256()
    }

    /// Bytes that stand one behind the other in a segment.
    func bytes(_ segment: SegmentIdentifier, at offset: UInt64, count: Int) throws -> [UInt8] {
        guard let summary = segments[segment], offset >= (nodesOnly ? summary.nodes : 0), offset <= summary.size,
            UInt64(count) <= summary.size - offset
        else {
            throw BackupError(.damagedObject, path: segment.name)
        }
        let bytes = try source(summary).read(count, at: Int64(offset))
        guard bytes.count == count else { throw BackupError(.damagedObject, path: segment.name) }
        return bytes
    }

    /// What `reference` refers to.
    func bytes(_ reference: BlockReference, count: Int) throws -> [UInt8] {
        let bytes = try bytes(reference.segment, at: reference.offset, count: count)
        guard try hash.digest(of: bytes) == reference.digest else {
            throw BackupError(.damagedObject, path: reference.segment.name)
        }
        return bytes
    }

    private func source(_ segment: SegmentSummary) throws -> any PageSource {
        if let source = opened[segment.identifier] { return source }
        if opened.count >= SegmentReader.mostOpened { opened.removeAll() }
        let start = nodesOnly ? segment.nodes : 0
        let source = try storage.open(
            segment.identifier.name,
            from: start,
            most: segment.size - min(start, segment.size)
        )
        opened[segment.identifier] = source
        return source
    }

    /// All references of a generation. Memory is taken for nodes that were read alone: a manifest may name any size.
    func tree(_ manifest: Manifest) throws -> BlockTree {
        var levels = [[manifest.root]]
        var nodes: Set<BlockReference> = []
        func children(_ node: BlockReference, _ index: Int, _ count: Int) throws -> [BlockReference] {
            guard nodes.insert(node).inserted else { throw BackupError(.damagedObject, path: node.segment.name) }
            let children = min(BlockTree.fanOut, count - index * BlockTree.fanOut)
            return BlockReference.all(in: try bytes(node, count: children * BlockReference.size))
        }
        let counts = BlockTree.counts(manifest.databaseSize)
        for count in counts.dropFirst().dropLast().reversed() {
            var below: [BlockReference] = []
            for (index, node) in levels[levels.count - 1].enumerated() { below += try children(node, index, count) }
            levels.append(below)
        }
        var blocks = BlockReferences(count: counts[0])
        for (index, node) in levels[levels.count - 1].enumerated() {
            try blocks.set(children(node, index, counts[0]), at: index)
        }
        return BlockTree(blocks, nodes: levels.reversed())
    }
}
