internal import CipherKeys

/// A block of a generation, or a node, as what is above it refers to it.
struct TreePiece: Sendable {
    let reference: BlockReference
    /// 0 for a block.
    let level: Int
    /// The bytes of the database that it stands for.
    let start: Int64
    let size: Int64

    private init(_ reference: BlockReference, level: Int, start: Int64, size: Int64) {
        self.reference = reference
        self.level = level
        self.start = start
        self.size = size
    }

    /// That of the segment `segment`.
    init(_ place: Place, _ use: Use, in segment: SegmentIdentifier, level: Int) {
        let reference = BlockReference(segment: segment, offset: place.offset, digest: place.digest)
        self.init(reference, level: level, start: use.start, size: use.size)
    }

    /// The root of a generation.
    init(rootOf manifest: Manifest) {
        let levels = BlockTree.counts(manifest.databaseSize).count
        self.init(manifest.root, level: levels - 1, start: 0, size: manifest.databaseSize)
    }

    /// How many bytes of the database a piece of `level` stands for, unless it is the last one.
    private static func span(_ level: Int) -> Int64 {
        (0..<level).reduce(Int64(BlockTree.blockSize)) { span, _ in span * Int64(BlockTree.fanOut) }
    }

    /// Its bytes in the segment.
    var storedSize: Int {
        guard level > 0 else { return Int(size) }
        let span = TreePiece.span(level - 1)
        return Int((size + span - 1) / span) * BlockReference.size
    }

    /// What a node refers to.
    ///
    /// - Parameter bytes: Those of the node, of the right size.
    func children(_ bytes: [UInt8]) -> [TreePiece] {
        let span = TreePiece.span(level - 1)
        return BlockReference.all(in: bytes).enumerated().map { number, reference in
            let offset = Int64(number) * span
            return TreePiece(reference, level: level - 1, start: start + offset, size: min(span, size - offset))
        }
    }

    /// A reference without its segment.
    struct Place: Hashable {
        let offset: UInt64
        let digest: Digest
    }

    /// What refers to a place.
    struct Use {
        let start: Int64
        let size: Int64
        /// The first and the last generation, by their places among the manifests.
        var generations: ClosedRange<UInt32>
    }
}

extension [TreePiece.Place: TreePiece.Use] {
    /// Adds a use; returns the generations that cannot all be right, because they take one place for different parts of a database.
    mutating func note(_ use: TreePiece.Use, of place: TreePiece.Place) -> ClosedRange<UInt32>? {
        guard let known = self[place] else {
            self[place] = use
            return nil
        }
        let (left, right) = (known.generations, use.generations)
        let both = Swift.min(left.lowerBound, right.lowerBound)...Swift.max(left.upperBound, right.upperBound)
        guard (known.start, known.size) == (use.start, use.size) else { return both }
        self[place]?.generations = both
        return nil
    }
}
