package import CipherKeys
package import SQLiteFormat

/// Writes a generation to a file.
package struct RestoreRun {
    private let repository: BackupRepository
    private let stored: StoredManifest
    private let expected: UInt64?
    package var generation: Generation { Generation(stored.manifest) }

    /// - Parameter expected: The number that the newest generation has at least; nil for any.
    package init(
        _ repository: BackupRepository,
        _ choice: GenerationChoice,
        atLeast expected: UInt64?
    ) throws {
        self.repository = repository
        self.expected = expected
        stored = try repository.manifest(choice, atLeast: expected)
    }

    /// Throws where `key` does not prove the manifest, or that there is a generation of the expected number.
    ///
    /// - Parameter others: Keys that the database had before or afterwards.
    package func authenticate(_ key: DerivedKey, others: [DerivedKey]) throws {
        let keys = try ([key] + others).map { try BackupKey($0, repository: stored.manifest.repository) }
        do {
            try stored.authenticate(keys[0])
        } catch let error as BackupError where error.code == .unauthenticated {
            throw BackupError(
                .unauthenticated,
                path: error.path,
                newestProved: try repository.newestProved(by: keys[0])
            )
        }
        guard let expected, stored.manifest.number < expected else { return }
        try repository.checkNewest(repository.manifestNames(), repository.identifier(), atLeast: expected) {
            $0.counts(provedBy: keys)
        }
    }

    /// Writes all blocks, each of which must have its digest.
    ///
    /// - Parameter progress: Called about every mebibyte with the bytes done and all.
    package func run(into sink: some PageSink, progress: (Int64, Int64) throws -> Void) throws {
        let manifest = stored.manifest
        let size = manifest.databaseSize
        let tree = try SegmentReader(repository.storage, manifest, nodesOnly: true).tree(manifest)
        let reader = try SegmentReader(repository.storage, manifest, nodesOnly: false)
        var done: Int64 = 0
        // Segment by segment: each is read once.
        for segments in try RestoreRun.parts(tree.neededBytes()) {
            for (index, reference) in try tree.blocks.places(in: segments) {
                let start = Int64(index) * Int64(BlockTree.blockSize)
                let count = Int(min(Int64(BlockTree.blockSize), size - start))
                let bytes =
                    reference == .zeros
                    ? [UInt8](repeating: 0, count: count) : try reader.bytes(reference, count: count)
                try bytes.withUnsafeBytes { try sink.write($0, at: start) }
                done += Int64(count)
                if done % (1 << 20) < Int64(BlockTree.blockSize) { try progress(done, size) }
            }
        }
    }

    /// Bytes of blocks whose places are in memory at once.
    private static let mostBytes = 1 << 29

    /// The segments in their order, in parts that are at most as large, or one segment.
    private static func parts(_ needed: [SegmentIdentifier: Int]) -> [Set<SegmentIdentifier>] {
        var parts: [Set<SegmentIdentifier>] = [[]]
        var size = 0
        for (segment, count) in needed.sorted(by: { $0.key < $1.key }) {
            if size + count > mostBytes {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].insert(segment)
            size += count
        }
        return parts
    }
}

extension BlockReferences {
    /// The indexes of the blocks that are in these segments, in the order in which they are there.
    fileprivate func places(in segments: Set<SegmentIdentifier>) throws -> [(index: Int, reference: BlockReference)] {
        var places: [(index: Int, reference: BlockReference)] = []
        for number in 0..<nodeCount {
            for (place, reference) in try node(number).enumerated() where segments.contains(reference.segment) {
                places.append((number * BlockTree.fanOut + place, reference))
            }
        }
        return places.sorted {
            ($0.reference.segment, $0.reference.offset) < ($1.reference.segment, $1.reference.offset)
        }
    }
}
