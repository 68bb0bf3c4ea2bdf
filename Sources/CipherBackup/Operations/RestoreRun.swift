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
        } catch BackupError.unauthenticated(let name, _) {
            throw BackupError.unauthenticated(name, newestProved: try repository.newestProved(by: keys[0]))
        }
        guard let expected, stored.manifest.number < expected else { return }
        try repository.checkNewest(repository.manifestNames(), repository.marker(), atLeast: expected) {
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
        // Segment by segment: each is read once.
        let order = tree.blocks.indices.sorted { left, right in
            let (left, right) = (tree.blocks[left], tree.blocks[right])
            return left.segment == right.segment ? left.offset < right.offset : left.segment < right.segment
        }
        var done: Int64 = 0
        for index in order {
            let start = Int64(index) * Int64(BlockTree.blockSize)
            let count = Int(min(Int64(BlockTree.blockSize), size - start))
            let reference = tree.blocks[index]
            let bytes =
                reference == .zeros ? [UInt8](repeating: 0, count: count) : try reader.bytes(reference, count: count)
            try bytes.withUnsafeBytes { try sink.write($0, at: start) }
            done += Int64(count)
            if done % (1 << 20) < Int64(BlockTree.blockSize) { try progress(done, size) }
        }
    }
}
