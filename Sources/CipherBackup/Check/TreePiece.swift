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

/// What generations need of segments that were not read yet: blocks, in the order in which nodes refer to them. A file has those that
/// do not fit into memory.
struct BlockUses {
    private struct Entry {
        let place: TreePiece.Place
        let use: TreePiece.Use
    }

    /// Entries of one segment that stand one behind the other in the file.
    private struct Run {
        let offset: Int64
        let count: Int
    }

    private var entries: [SegmentIdentifier: [Entry]] = [:]
    private var count = 0
    private var runs: [SegmentIdentifier: [Run]] = [:]
    private var file: ScratchFile?

    /// 16 MiB of them.
    static let mostInMemory = (16 << 20) / MemoryLayout<Entry>.stride
    /// 1 MiB of them.
    private static let step = (1 << 20) / MemoryLayout<Entry>.stride

    mutating func add(_ place: TreePiece.Place, _ use: TreePiece.Use, to segment: SegmentIdentifier) throws {
        if count >= BlockUses.mostInMemory { try flush() }
        entries[segment, default: []].append(Entry(place: place, use: use))
        count += 1
    }

    private mutating func flush() throws {
        let file = try self.file ?? ScratchFile()
        self.file = file
        var end = try file.size()
        for (segment, entries) in entries {
            try entries.withUnsafeBytes { try file.write($0, at: end) }
            runs[segment, default: []].append(Run(offset: end, count: entries.count))
            end += Int64(entries.count * MemoryLayout<Entry>.stride)
        }
        entries = [:]
        count = 0
    }

    /// Calls `body` with all that was added for a segment, and forgets it.
    mutating func take(
        _ segment: SegmentIdentifier,
        _ body: (TreePiece.Place, TreePiece.Use) -> Void
    ) throws {
        for run in runs.removeValue(forKey: segment) ?? [] {
            for first in stride(from: 0, to: run.count, by: BlockUses.step) {
                let offset = run.offset + Int64(first * MemoryLayout<Entry>.stride)
                for entry in try read(min(BlockUses.step, run.count - first), at: offset) {
                    body(entry.place, entry.use)
                }
            }
        }
        let rest = entries.removeValue(forKey: segment) ?? []
        count -= rest.count
        for entry in rest { body(entry.place, entry.use) }
    }

    private func read(_ count: Int, at offset: Int64) throws -> [Entry] {
        try [Entry](unsafeUninitializedCapacity: count) { buffer, initialized in
            // This process wrote them, and no other can: a file without a name.
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            initialized = try (file?.read(into: bytes, at: offset) ?? 0) / MemoryLayout<Entry>.stride
        }
    }
}
