internal import CipherKeys

/// Makes a generation of blocks. Several threads may store blocks, one at a time.
final class GenerationWriter {
    let base: GenerationBase?
    /// Where blocks and nodes may be that are the same.
    private let adopted: GenerationBase?
    private let repository: BackupRepository
    private let marker: RepositoryMarker
    private let key: BackupKey?
    private let size: Int64
    private let segments: SegmentWriter
    private var tree: BlockTree
    private var old: ReferenceCursor?
    /// Whether a block differs from that of the generation before.
    private(set) var isChanged: Bool
    /// Whether a block is that of the generation before, unless it is one of zeros.
    private(set) var sharesBlock: Bool
    /// The first bytes of the database: its salt, unless its header is plaintext.
    private(set) var head: [UInt8] = []

    /// - Parameters:
    ///   - size: Bytes of the database.
    ///   - adoptsBlocks: Whether what is stored for the generation before is referred to.
    ///   - keepsBlocks: Whether blocks that are not stored are those of the generation before; else zeros.
    init(
        _ repository: BackupRepository,
        _ marker: RepositoryMarker,
        base: GenerationBase?,
        key: BackupKey?,
        size: Int64,
        adoptsBlocks: Bool,
        keepsBlocks: Bool
    ) throws {
        self.repository = repository
        self.marker = marker
        self.base = base
        self.adopted = adoptsBlocks ? base : nil
        self.key = key
        self.size = size
        segments = SegmentWriter(repository.storage, repository: marker.identifier)
        tree = BlockTree(size: size)
        old = base.map { ReferenceCursor($0.tree.blocks) }
        sharesBlock = keepsBlocks
        // Without the key, the same state is not stored again without a MAC.
        let isProofChanged = key != nil && base?.manifest.keyIdentifier != key?.identifier
        isChanged = base?.manifest.databaseSize != size || isProofChanged || base?.lost.isEmpty == false
        if keepsBlocks, let base { try tree.keepBlocks(of: base.tree) }
    }

    func store(_ block: StateBlock) throws {
        let same = try old?.reference(to: block)
        if same == nil {
            isChanged = true
        } else if !block.isZero {
            sharesBlock = true
        }
        if block.index == 0 { head = Array(block.bytes.prefix(CipherFormat.saltSize)) }
        guard !block.isZero else { return try tree.setBlock(.zeros, at: block.index) }
        let reference =
            if let same, adopted?.stays(same) == true { same } else {
                try segments.append(block: block.bytes, block.index, block.digest)
            }
        try tree.setBlock(reference, at: block.index)
    }

    /// Stores what is left, and then the manifest, if something has changed.
    ///
    /// - Parameter beforeEach: Called before each segment is stored; what it throws ends this.
    /// - Returns: The new generation, or the one before.
    func finish(time: UInt64, beforeEach: () throws -> Void) throws -> (base: GenerationBase, isNew: Bool) {
        if let base, !isChanged {
            segments.discard()
            return (base, false)
        }
        if let base, base.manifest.number == Manifest.highestNumber {
            throw BackupError(.damagedObject, path: base.stored.name)
        }
        try storeNodes()
        try segments.finish()
        try segments.store(beforeEach: beforeEach)
        let needed = try tree.neededBytes()
        let manifest = Manifest(
            repository: marker.identifier,
            number: (base?.manifest.number ?? 0) + 1,
            time: time,
            previous: try base?.stored.digest ?? Digest(),
            keyIdentifier: key?.identifier,
            databaseSize: size,
            storedSize: Int64(segments.size),
            root: tree.root,
            segments: ((base?.manifest.segments ?? []) + segments.segments).filter { needed[$0.identifier] != nil }
        )
        let stored = try StoredManifest(manifest, key)
        try repository.storage.add(StoredManifest.directory + "/" + stored.name, stored.file)
        return (GenerationBase(stored, tree, needed: needed), true)
    }

    /// Removes what was stored, after a failure.
    func discard() { segments.discard() }

    /// Stores the nodes that are not those of the generation before, from the leaves to the root.
    private func storeNodes() throws {
        let hash = try OpenSSL.SHA256()
        for level in tree.levels {
            for index in tree.indexes(level) {
                let same = try adopted?.tree.node(level, index, of: tree)
                let reference =
                    if let same, adopted?.stays(same) == true { same } else {
                        try append(BlockReference.node(of: tree.children(level, index)), hash)
                    }
                tree.setNode(reference, level: level, index: index)
            }
        }
    }

    private func append(_ node: [UInt8], _ hash: OpenSSL.SHA256) throws -> BlockReference {
        try segments.append(node: node, hash.digest(of: node))
    }
}
