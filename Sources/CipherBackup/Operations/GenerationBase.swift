internal import CipherKeys
internal import SQLiteFormat

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
        let lost = stored.lostSegments(try storage.sizes(in: SegmentIdentifier.directory))
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
        let found = try lost + stored.lostSegments(storage.sizes(in: SegmentIdentifier.directory))
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

extension GenerationBase {
    /// Whether a state comes from the same database, as far as anybody can know: a rewritten page has no byte in common with the old one, but
    /// the salt stays, unless the key was changed by a new file.
    ///
    /// - Parameters:
    ///   - key: That of the state.
    ///   - others: The identifiers of keys that are those of this database alone.
    func isRelated(
        to writer: GenerationWriter,
        key: BackupKey?,
        others: Set<[UInt8]>,
        _ storage: any BackupStorage
    ) -> Bool {
        if writer.sharesBlock { return true }
        if let identifier = manifest.keyIdentifier, others.contains(identifier) { return true }
        let hasSalt = writer.head != FileKind.magic
        // Two databases may have one raw key, so that it says little.
        guard hasSalt else { return key != nil && manifest.keyIdentifier == key?.identifier }
        let count = Int(min(Int64(BlockTree.blockSize), manifest.databaseSize))
        guard let first = try? tree.blocks.node(0).first,
            let bytes = try? SegmentReader(storage, manifest, nodesOnly: false).bytes(first, count: count)
        else { return false }
        return bytes.starts(with: writer.head)
    }
}

/// Which segments a new generation does without: their blocks are stored again, so that a restore does not need ever more objects.
struct Compaction {
    /// What is in these is stored again.
    let replaced: Set<SegmentIdentifier>

    /// Small segments come from small changes. Once there are so many, they are stored as one.
    static let mostSmall = 32
    static let smallSize = 16 << 20
    /// What is needed of a segment is stored again if it is less than one byte in so many.
    static let wasteFactor = 4

    static let none = Compaction(replaced: [])

    private init(replaced: Set<SegmentIdentifier>) {
        self.replaced = replaced
    }

    /// - Parameter needed: How many bytes of each segment the generation needs.
    init(_ manifest: Manifest, needed: [SegmentIdentifier: Int]) {
        var small: [SegmentIdentifier] = []
        var replaced: Set<SegmentIdentifier> = []
        for segment in manifest.segments {
            if segment.size < UInt64(Compaction.smallSize) {
                small.append(segment.identifier)
            } else if needed[segment.identifier, default: 0] < Int(segment.size) / Compaction.wasteFactor {
                replaced.insert(segment.identifier)
            }
        }
        if small.count > Compaction.mostSmall { replaced.formUnion(small) }
        self.init(replaced: replaced)
    }
}
