internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// Reads the segments of a repository, each once, the newest first, and compares what generations refer to with its digest. Memory
/// grows with the number of nodes in the repository, not with that of blocks.
struct SegmentPass {
    private let storage: any BackupStorage
    private let identifier: [UInt8]
    private let segments: [ListedSegment]
    private let hash: Cryptography.SHA256
    private var keys: GenerationKeys
    private let listed: [SegmentIdentifier: ListedSegment]
    /// The nodes that are referred to in segments that were not read yet: by level, then by place.
    private var nodes: [SegmentIdentifier: [[TreePiece.Place: TreePiece.Use]]] = [:]
    private var blocks = BlockUses()
    /// Segments that could not be opened.
    private(set) var missing: Set<SegmentIdentifier> = []
    /// Of each piece that was not found right, the first and the last generation.
    private var doubts: Set<ClosedRange<UInt32>> = []

    private static let mostLevels = 8
    private static let step: Int64 = 1 << 20

    init(
        _ storage: any BackupStorage,
        _ identifier: [UInt8],
        _ manifests: [StoredManifest],
        _ keys: GenerationKeys
    ) throws {
        self.keys = keys
        self.storage = storage
        self.identifier = identifier
        segments = ListedSegment.all(in: manifests)
        listed = Dictionary(segments.map { ($0.identifier, $0) }) { $1 }
        hash = try Cryptography.SHA256()
        for segment in segments {
            nodes[segment.identifier] = Array(repeating: [:], count: SegmentPass.mostLevels)
        }
        for (generation, stored) in zip(UInt32(0)..., manifests) {
            try refer(to: TreePiece(rootOf: stored.manifest), generation...generation)
        }
    }

    /// The generations, by their places among the manifests, that have to be looked at one by one.
    var doubtful: NumberRanges<UInt32> { NumberRanges(doubts) }

    /// - Parameter progress: Called for each segment with the bytes done and all.
    mutating func run(_ check: inout RepositoryCheck, _ progress: (Int64, Int64) throws -> Void) throws {
        // Somebody may have written any sizes.
        func sum(_ one: Int64, _ other: Int64) -> Int64 {
            let (sum, isTooLarge) = one.addingReportingOverflow(other)
            return isTooLarge ? .max : sum
        }
        let sizes = segments.map { segment in segment.summaries.reduce(Int64(0)) { max($0, Int64(clamping: $1.size)) } }
        let all = sizes.reduce(0, sum)
        var (done, read) = (Int64(0), Int64(0))
        defer { check.size = read }
        for (segment, size) in zip(segments, sizes) {
            check.noting {
                let (size, digest) = try self.read(segment)
                read += size
                guard segment.summaries.allSatisfy({ $0.size == UInt64(size) && $0.digest == digest }) else {
                    throw BackupError(.damagedObject, path: segment.identifier.name)
                }
            }
            nodes[segment.identifier] = nil
            try blocks.take(segment.identifier) { _, _ in }
            done = sum(done, size)
            try progress(done, all)
        }
    }

    /// Notes that generations need a piece.
    private mutating func refer(to piece: TreePiece, _ generations: ClosedRange<UInt32>) throws {
        if piece.level == 0, piece.reference == .zeros {
            // With a key, only a page that SQLite does not use is one of zeros.
            let isUnused = keys.of(generations).allSatisfy {
                piece.start == 1 << 30 && $0.pageSize >= BlockTree.blockSize
            }
            if !isUnused { doubts.insert(generations) }
            return
        }
        let reference = piece.reference
        guard listed[reference.segment]?.isListed(by: generations) == true, nodes[reference.segment] != nil else {
            return _ = doubts.insert(generations)
        }
        let place = TreePiece.Place(offset: reference.offset, digest: reference.digest)
        let use = TreePiece.Use(start: piece.start, size: piece.size, generations: generations)
        guard piece.level > 0 else { return try blocks.add(place, use, to: reference.segment) }
        if let doubt = nodes[reference.segment]?[piece.level].note(use, of: place) { doubts.insert(doubt) }
    }

    /// Reads a segment, and returns its size and digest.
    private mutating func read(_ segment: ListedSegment) throws -> (size: Int64, digest: Digest) {
        let source: any PageSource
        do {
            // One more, so that a longer one is noticed.
            let size = segment.summaries.map(\.size).max() ?? 0
            source = try storage.open(segment.identifier.name, from: 0, most: min(size, 1 << 60) + 1)
        } catch {
            missing.insert(segment.identifier)
            throw error
        }
        do {
            return try read(segment, source)
        } catch {
            // Some of the generations may not need what is not right.
            doubts.insert(segment.range)
            throw error
        }
    }

    private mutating func read(_ segment: ListedSegment, _ source: any PageSource) throws -> (
        size: Int64, digest: Digest
    ) {
        let size = try source.size()
        let header = SegmentHeader.bytes(identifier, segment.identifier)
        guard try source.read(header.count, at: 0) == header else {
            throw BackupError(.damagedObject, path: segment.identifier.name)
        }
        // Each generation is restored by what its own manifest says.
        if segment.summaries.count > 1 { doubts.insert(segment.range) }
        let end = segment.summaries.reduce(size) { min($0, Int64(clamping: $1.size)) }
        try readNodes(segment, source, end)
        let units = try units(blocksInOrder(segment.identifier, end: end))
        return (size, try readAll(segment.identifier, source, size, units))
    }

    /// Compares the nodes, and notes what they refer to. Those of a level are referred to by higher ones alone.
    private mutating func readNodes(_ segment: ListedSegment, _ source: any PageSource, _ end: Int64) throws {
        let first = segment.summaries.map(\.nodes).max() ?? 0
        for level in (1..<SegmentPass.mostLevels).reversed() {
            let all = nodes[segment.identifier]?[level] ?? [:]
            nodes[segment.identifier]?[level] = [:]
            for (place, use) in all {
                let node = TreePiece(place, use, in: segment.identifier, level: level)
                guard place.offset >= first, place.offset <= UInt64(end),
                    case let bytes = try source.read(node.storedSize, at: Int64(place.offset)),
                    bytes.count == node.storedSize, try hash.digest(of: bytes) == place.digest
                else {
                    doubts.insert(use.generations)
                    continue
                }
                for child in node.children(bytes) { try refer(to: child, use.generations) }
            }
        }
    }

    /// A block that is to be compared.
    private struct Block {
        let place: TreePiece.Place
        let use: TreePiece.Use
        var range: Range<Int64> { Int64(place.offset)..<(Int64(place.offset) + use.size) }
    }

    /// The blocks in the order of their offsets, without overlap.
    private mutating func blocksInOrder(_ segment: SegmentIdentifier, end: Int64) throws -> [Block] {
        var uses: [TreePiece.Place: TreePiece.Use] = [:]
        var doubts: [ClosedRange<UInt32>] = []
        try blocks.take(segment) { place, use in
            if let doubt = uses.note(use, of: place) { doubts.append(doubt) }
        }
        self.doubts.formUnion(doubts)
        var blocks: [Block] = []
        for (place, use) in uses.sorted(by: { $0.key.offset < $1.key.offset }) {
            let before = blocks.last?.range.upperBound ?? 0
            if place.offset >= UInt64(before), place.offset <= UInt64(max(0, end - use.size)) {
                blocks.append(Block(place: place, use: use))
            } else {
                self.doubts.insert(use.generations)
            }
        }
        return blocks
    }

    /// Blocks that are compared together: those of a page.
    private struct Unit {
        let blocks: ArraySlice<Block>
        let key: GenerationKeys.Key?
        var range: Range<Int64> { blocks.first!.range.lowerBound..<blocks.last!.range.upperBound }
    }

    private mutating func units(_ blocks: [Block]) -> [Unit] {
        var units: [Unit] = []
        var next = 0
        while next < blocks.count {
            let first = blocks[next]
            let found = keys.of(first.use.generations)
            let count = max(1, (found.first?.pageSize ?? 0) / BlockTree.blockSize)
            let page = blocks[next...].prefix(count)
            let isWhole = zip(page, page.dropFirst()).allSatisfy { left, right in
                left.range.upperBound == right.range.lowerBound && left.use.start + left.use.size == right.use.start
                    && left.use.generations == right.use.generations
            }
            let pageSize = Int64(count * BlockTree.blockSize)
            if found.count < 2, page.count == count, isWhole, first.use.start % pageSize == 0 {
                units.append(Unit(blocks: page, key: found.first))
            } else {
                doubts.insert(first.use.generations)
                units.append(Unit(blocks: page.prefix(1), key: nil))
            }
            next += units[units.count - 1].blocks.count
        }
        return units
    }

    /// Reads the whole segment once: compares each block with its digest, authenticates each page, and returns the digest of all.
    private mutating func readAll(
        _ segment: SegmentIdentifier,
        _ source: any PageSource,
        _ size: Int64,
        _ units: [Unit]
    ) throws -> Digest {
        let whole = try Cryptography.SHA256()
        var (position, next) = (Int64(0), 0)
        while position < size {
            var end = min(size, position + SegmentPass.step)
            let first = next
            while next < units.count, units[next].range.upperBound <= end { next += 1 }
            // Nothing is cut.
            if next < units.count { end = min(end, max(units[next].range.lowerBound, position)) }
            let bytes = try source.read(Int(end - position), at: position)
            guard bytes.count == Int(end - position) else { throw BackupError(.damagedObject, path: segment.name) }
            try bytes.withUnsafeBytes { bytes in
                try whole.update(bytes)
                for unit in units[first..<next] {
                    let isRight = try isRight(unit) { range in
                        UnsafeRawBufferPointer(
                            rebasing: bytes[Int(range.lowerBound - position)..<Int(range.upperBound - position)]
                        )
                    }
                    if !isRight { doubts.insert(unit.blocks.first!.use.generations) }
                }
            }
            position = end
        }
        return try whole.finish()
    }

    private func isRight(_ unit: Unit, _ bytes: (Range<Int64>) -> UnsafeRawBufferPointer) throws -> Bool {
        for block in unit.blocks where try hash.digest(of: bytes(block.range)) != block.place.digest { return false }
        guard let key = unit.key else { return true }
        return try key.damagedPages(in: bytes(unit.range), at: unit.blocks.first!.use.start).isEmpty
    }
}

/// A segment, as the manifests of a repository list it.
struct ListedSegment {
    let identifier: SegmentIdentifier
    /// What manifests say of it: one thing, unless somebody has changed one.
    private(set) var summaries: Set<SegmentSummary>
    /// The first manifest that lists it, the last one, by their places, and how many there are.
    private var generations: ClosedRange<Int>
    private var count = 1
    /// In the list of the first one.
    private let position: Int

    private init(_ summary: SegmentSummary, generation: Int, position: Int) {
        identifier = summary.identifier
        summaries = [summary]
        generations = generation...generation
        self.position = position
    }

    /// The first and the last generation that list it.
    var range: ClosedRange<UInt32> { UInt32(generations.lowerBound)...UInt32(generations.upperBound) }

    /// Whether each of `generations` lists it. It may say no where there are others between them that do not.
    func isListed(by generations: ClosedRange<UInt32>) -> Bool {
        count == self.generations.count && self.generations.contains(Int(generations.lowerBound))
            && self.generations.contains(Int(generations.upperBound))
    }

    /// The segments of a repository, the newest first: nodes refer to their own segment and older ones.
    static func all(in manifests: [StoredManifest]) -> [ListedSegment] {
        var all: [SegmentIdentifier: ListedSegment] = [:]
        for (generation, stored) in manifests.enumerated() {
            for (position, summary) in stored.manifest.segments.enumerated() {
                guard all[summary.identifier] != nil else {
                    all[summary.identifier] = ListedSegment(summary, generation: generation, position: position)
                    continue
                }
                all[summary.identifier]?.add(summary, generation)
            }
        }
        // A manifest lists them in the order in which they were made.
        return all.values.sorted {
            ($0.generations.lowerBound, $0.position) > ($1.generations.lowerBound, $1.position)
        }
    }

    private mutating func add(_ summary: SegmentSummary, _ generation: Int) {
        summaries.insert(summary)
        guard generation > generations.upperBound else { return }
        generations = generations.lowerBound...generation
        count += 1
    }
}
