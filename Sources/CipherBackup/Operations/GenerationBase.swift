internal import CipherKeys

/// The newest generation of a repository, which the next one is based on.
struct GenerationBase: Sendable {
    let stored: StoredManifest
    let tree: BlockTree
    let compaction: Compaction
    /// The names of the objects that it needs and that are not what was written. Then the tree is empty.
    let lost: [String]

    var manifest: Manifest { stored.manifest }

    /// - Parameter needed: ``BlockTree/neededBytes()``.
    init(_ stored: StoredManifest, _ tree: BlockTree, needed: [SegmentIdentifier: Int]) {
        self.stored = stored
        self.tree = tree
        compaction = Compaction(stored.manifest, needed: needed)
        lost = []
    }

    /// One that cannot be restored.
    private init(_ stored: StoredManifest, lost: [String]) {
        self.stored = stored
        self.lost = lost
        tree = BlockTree(size: 0)
        compaction = .none
    }

    init(_ stored: StoredManifest, _ storage: any BackupStorage) throws {
        let lost = try stored.lostSegments(storage)
        guard lost.isEmpty else {
            self.init(stored, lost: lost)
            return
        }
        do {
            let tree = try SegmentReader(storage, stored.manifest, nodesOnly: true).tree(stored.manifest)
            self.init(stored, tree, needed: tree.neededBytes())
        } catch BackupError.damagedObject(let name) {
            self.init(stored, lost: [name])
        }
    }

    /// The same, where segments were lost meanwhile.
    func checked(_ storage: any BackupStorage) throws -> GenerationBase {
        let found = try lost + stored.lostSegments(storage)
        return found.isEmpty ? self : GenerationBase(stored, lost: found)
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
