internal import CipherKeys

/// The newest generation of a repository, which the next one is based on.
struct GenerationBase: Sendable {
    let stored: StoredManifest
    let tree: BlockTree
    let compaction: Compaction

    var manifest: Manifest { stored.manifest }

    /// - Parameter needed: ``BlockTree/neededBytes()``.
    init(_ stored: StoredManifest, _ tree: BlockTree, needed: [SegmentIdentifier: Int]) {
        self.stored = stored
        self.tree = tree
        compaction = Compaction(stored.manifest, needed: needed)
    }

    init(_ stored: StoredManifest, _ storage: any BackupStorage) throws {
        let tree = try SegmentReader(storage, stored.manifest, nodesOnly: true).tree(stored.manifest)
        self.init(stored, tree, needed: tree.neededBytes())
    }

    /// Whether the pages were authenticated with `key`, so that only those that changed need to be.
    ///
    /// - Throws: ``BackupError/altered(_:)`` where the manifest says so and its MAC is wrong.
    func isProved(by key: BackupKey?) throws -> Bool {
        guard let key, manifest.keyIdentifier == key.identifier else { return false }
        try stored.authenticate(key)
        return true
    }

    /// The block `index`, where it has `digest` and stays where it is.
    func block(_ index: Int, _ digest: Digest) -> BlockReference? {
        guard tree.blocks.indices.contains(index), tree.blocks[index].digest == digest,
            !compaction.replaced.contains(tree.blocks[index].segment)
        else { return nil }
        return tree.blocks[index]
    }

    /// The node `index` of `level`, where it refers to the same as in `new` and stays where it is.
    func node(_ level: Int, _ index: Int, of new: BlockTree) -> BlockReference? {
        guard tree.levels.indices.contains(level), tree.levels[level].indices.contains(index),
            case let children = new.children(level: level, index: index),
            children == tree.children(level: level, index: index),
            tree.levels[level - 1][children] == new.levels[level - 1][children],
            !compaction.replaced.contains(tree.levels[level][index].segment)
        else { return nil }
        return tree.levels[level][index]
    }
}
