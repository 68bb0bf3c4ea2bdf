package import CipherKeys
internal import CipherPages
internal import CipherSystem
package import SQLiteFormat

/// Stores the state of a database as a new generation.
package struct BackupRun {
    private let source: any PageSource
    private let unit: Int
    private let key: (key: DerivedKey, format: CipherFormat)?

    /// - Parameters:
    ///   - source: The database, which nobody changes meanwhile.
    ///   - unit: Bytes that must be read together.
    ///   - key: Authenticates the pages that are stored, and the manifest; nil for neither.
    package init(_ source: any PageSource, unit: Int, key: (key: DerivedKey, format: CipherFormat)?) {
        self.source = source
        self.unit = unit
        self.key = key
    }

    /// Pages that are not what was written, or missing: nothing of such a state is stored.
    package struct DamagedPages: Error {
        package let numbers: [Int]
    }

    /// - Parameters:
    ///   - willStore: Called when all was read, and before it becomes a generation; what it throws keeps it from that.
    ///   - progress: Called about every mebibyte with the bytes done and all.
    /// - Returns: The generation, and whether it is a new one: it is not where nothing has changed.
    package func run(
        _ repository: BackupRepository,
        willStore: () throws -> Void,
        progress: (Int64, Int64) throws -> Void
    ) throws -> (generation: Generation, isNew: Bool) {
        try repository.prepare()
        return try repository.storage.locked(exclusively: true) {
            let marker = try repository.marker()
            let parent = try repository.newest()
            let backupKey = try key.map { try BackupKey($0.key, repository: marker.identifier) }
            let isProved = try isProved(parent, backupKey)
            let base = try parent.map { try Base($0.manifest, repository.storage) }
            let writer = SegmentWriter(repository.storage, repository: marker.identifier)
            do {
                let size = try source.size()
                var tree = BlockTree(size: size)
                let isChanged = try storeBlocks(&tree, base, isProved: isProved, writer, progress)
                try willStore()
                if let parent, !isChanged, parent.manifest.databaseSize == size,
                    parent.manifest.keyIdentifier == backupKey?.identifier
                {
                    writer.discard()
                    return (Generation(parent.manifest), false)
                }
                try storeNodes(&tree, base, writer)
                try writer.finish()
                let manifest = Manifest(
                    repository: marker.identifier,
                    number: (parent?.manifest.number ?? 0) + 1,
                    time: BackupRepository.now,
                    previous: try parent?.digest ?? Digest(),
                    keyIdentifier: backupKey?.identifier,
                    databaseSize: size,
                    storedSize: Int64(writer.size),
                    root: tree.root,
                    segments: needed(tree, (base?.manifest.segments ?? []) + writer.segments)
                )
                let file = try manifest.file(backupKey)
                let name = StoredManifest.name(manifest.number, try OpenSSL.SHA256().digest(of: file))
                try repository.storage.add(StoredManifest.directory + "/" + name, file)
                return (Generation(manifest), true)
            } catch {
                writer.discard()
                throw error
            }
        }
    }

    /// Whether the pages of the generation before were authenticated, so that only those that changed need to be.
    private func isProved(_ parent: StoredManifest?, _ key: BackupKey?) throws -> Bool {
        guard let parent, let key, parent.manifest.keyIdentifier == key.identifier else { return false }
        try parent.authenticate(key)
        return true
    }

    /// The generation before.
    private struct Base {
        let manifest: Manifest
        let tree: BlockTree
        let compaction: Compaction

        init(_ manifest: Manifest, _ storage: any BackupStorage) throws {
            self.manifest = manifest
            tree = try SegmentReader(storage, manifest, nodesOnly: true).tree(manifest)
            compaction = Compaction(manifest, tree)
        }

        /// The block `index`, where it has `digest` and stays where it is.
        func block(_ index: Int, _ digest: Digest) -> BlockReference? {
            guard tree.blocks.indices.contains(index), tree.blocks[index].digest == digest,
                !compaction.replaced.contains(tree.blocks[index].segment)
            else { return nil }
            return tree.blocks[index]
        }
    }

    // MARK: Blocks

    private struct Stored {
        var tree: BlockTree
        var isChanged = false
        var damaged: [Int] = []
    }

    /// Stores the blocks that are not those of `base`.
    private func storeBlocks(
        _ tree: inout BlockTree,
        _ base: Base?,
        isProved: Bool,
        _ writer: SegmentWriter,
        _ progress: (Int64, Int64) throws -> Void
    ) throws -> Bool {
        let pageSize = key?.format.pageSize ?? BlockTree.blockSize
        let step = max(BlockTree.blockSize, unit, pageSize)
        let stored = Lock(Stored(tree: tree))
        // It is used under the lock alone.
        nonisolated(unsafe) let writer = writer
        try PagePipeline(source, pageSize: step).run {
            try progress(Int64($0) * Int64(step), Int64($1) * Int64(step))
        } makeWorker: { [key] in
            let hash = try OpenSSL.SHA256()
            let authenticator = try key.map { try PageAuthenticator(key: $0.key, format: $0.format) }
            return { batch in
                let blocks = try batch.blocks(hash)
                let changed = blocks.filter { base?.block($0.index, $0.digest) == nil && !$0.isZero }
                if let authenticator, !changed.isEmpty || !isProved {
                    let damaged = try authenticator.damaged(in: batch.pages(of: pageSize))
                    guard damaged.isEmpty else { return stored.withLock { $0.damaged += damaged.map(Int.init) } }
                }
                try stored.withLock { stored in
                    for block in blocks where !block.isZero {
                        let same = base?.block(block.index, block.digest)
                        let reference = try same ?? writer.append(block: block.bytes, block.digest)
                        stored.tree.set(reference, level: 0, index: block.index)
                    }
                    stored.isChanged = stored.isChanged || blocks.contains { base?.tree.holds($0) != true }
                }
            }
        }
        let result = stored.withLock { $0 }
        guard result.damaged.isEmpty else { throw DamagedPages(numbers: result.damaged.sorted()) }
        tree = result.tree
        return result.isChanged
    }

    // MARK: Nodes

    /// Stores the nodes that are not those of `base`, from the leaves to the root.
    private func storeNodes(_ tree: inout BlockTree, _ base: Base?, _ writer: SegmentWriter) throws {
        let hash = try OpenSSL.SHA256()
        for level in 1..<tree.levels.count {
            for index in tree.levels[level].indices {
                let node = tree.node(level: level, index: index)
                let digest = try hash.digest(of: node)
                if let base, base.tree.levels.indices.contains(level), base.tree.levels[level].indices.contains(index),
                    case let old = base.tree.levels[level][index], old.digest == digest,
                    !base.compaction.replaced.contains(old.segment)
                {
                    tree.set(old, level: level, index: index)
                } else {
                    tree.set(try writer.append(node: node, digest), level: level, index: index)
                }
            }
        }
    }

    /// Those of the segments that the tree needs.
    private func needed(_ tree: BlockTree, _ segments: [SegmentSummary]) -> [SegmentSummary] {
        let used = Set(tree.levels.joined().map(\.segment))
        return segments.filter { used.contains($0.identifier) }
    }
}
