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
            try self.init(stored, tree, needed: tree.neededBytes())
        } catch let error as BackupError where error.code == .damagedObject {
            self.init(stored, lost: [error.path])
        }
    }

    /// The same, where segments were lost meanwhile.
    func checked(_ storage: any BackupStorage) throws -> GenerationBase {
        let found = try lost + stored.lostSegments(storage)
        return found.isEmpty ? self : GenerationBase(stored, lost: found)
    }

    /// Whether the pages were authenticated with `key`, so that only those that changed need to be.
    ///
    /// - Throws: `BackupError.altered` where the manifest says so and its MAC is wrong.
    func isProved(by key: BackupKey?) throws -> Bool {
        guard let key, manifest.keyIdentifier == key.identifier else { return false }
        try stored.authenticate(key)
        return true
    }

    /// Whether the next generation refers to what is there, and does not store it again.
    func stays(_ reference: BlockReference) -> Bool { !compaction.replaced.contains(reference.segment) }
}
