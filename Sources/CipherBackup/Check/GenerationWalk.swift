internal import CipherSystem

/// Reads all that a generation needs, as a restore does.
struct GenerationWalk {
    private let manifest: Manifest
    private let nodes: SegmentReader
    private let blocks: SegmentReader

    init(_ storage: any BackupStorage, _ manifest: Manifest) throws {
        self.manifest = manifest
        nodes = try SegmentReader(storage, manifest, nodesOnly: true)
        blocks = try SegmentReader(storage, manifest, nodesOnly: false)
    }

    /// Throws where something is not what was written.
    ///
    /// - Parameter key: Authenticates the pages too.
    func run(_ key: GenerationKeys.Key?) throws {
        var bytes: [UInt8] = []
        var damaged: [Int] = []
        try visit(TreePiece(rootOf: manifest), below: .max) { block, start in
            guard let key else { return }
            bytes += block
            let end = start + Int64(block.count)
            // With whole pages, or the last one.
            guard end % Int64(key.pageSize) == 0 || end == manifest.databaseSize else { return }
            damaged += try bytes.withUnsafeBytes { try key.damagedPages(in: $0, at: end - Int64($0.count)) }
            bytes.removeAll(keepingCapacity: true)
        }
        guard damaged.isEmpty else { throw DamagedPages(numbers: damaged) }
    }

    /// The first bytes of the database.
    func head(_ count: Int) throws -> [UInt8] {
        var head: [UInt8] = []
        try visit(TreePiece(rootOf: manifest), below: Int64(count)) { block, _ in head += block }
        return Array(head.prefix(count))
    }

    /// Visits the blocks that begin below an offset in the database.
    private func visit(_ root: TreePiece, below end: Int64, _ body: ([UInt8], Int64) throws -> Void) throws {
        var known: Set<BlockReference> = []
        func visit(_ piece: TreePiece) throws {
            guard piece.start < end else { return }
            if piece.level > 0 {
                // Somebody could make a tree of endless size of a few nodes.
                guard known.insert(piece.reference).inserted else {
                    throw BackupError(.damagedObject, path: piece.reference.segment.name)
                }
                let bytes = try nodes.bytes(piece.reference, count: piece.storedSize)
                for child in piece.children(bytes) { try visit(child) }
            } else if piece.reference == .zeros {
                try body([UInt8](repeating: 0, count: piece.storedSize), piece.start)
            } else {
                try body(blocks.bytes(piece.reference, count: piece.storedSize), piece.start)
            }
        }
        try visit(root)
    }
}

extension DamagedPages: CustomStringConvertible {
    package var description: String {
        NumberRanges(numbers).text(of: "page") + (numbers.count == 1 ? " has a wrong MAC" : " have wrong MACs")
    }
}
