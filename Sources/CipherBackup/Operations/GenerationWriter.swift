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
    ) {
        self.repository = repository
        self.marker = marker
        self.base = base
        self.adopted = adoptsBlocks ? base : nil
        self.key = key
        self.size = size
        segments = SegmentWriter(repository.storage, repository: marker.identifier)
        tree = BlockTree(size: size)
        sharesBlock = keepsBlocks
        // Without the key, the same state is not stored again without a MAC.
        let isProofChanged = key != nil && base?.manifest.keyIdentifier != key?.identifier
        isChanged = base?.manifest.databaseSize != size || isProofChanged || base?.lost.isEmpty == false
        if keepsBlocks, let base { tree.keepBlocks(of: base.tree) }
    }

    func store(_ block: StateBlock) throws {
        if base?.tree.holds(block) != true {
            isChanged = true
        } else if !block.isZero {
            sharesBlock = true
        }
        if block.index == 0 { head = Array(block.bytes.prefix(CipherFormat.saltSize)) }
        guard !block.isZero else { return tree.set(.zeros, level: 0, index: block.index) }
        let reference =
            try adopted?.block(block.index, block.digest)
            ?? segments.append(block: block.bytes, block.index, block.digest)
        tree.set(reference, level: 0, index: block.index)
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
            throw BackupError.damagedObject(base.stored.name)
        }
        try storeNodes()
        try segments.finish()
        try segments.store(beforeEach: beforeEach)
        let needed = tree.neededBytes()
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
        for level in 1..<tree.levels.count {
            for index in tree.levels[level].indices {
                if let same = adopted?.node(level, index, of: tree) {
                    tree.set(same, level: level, index: index)
                } else {
                    let node = tree.node(level: level, index: index)
                    tree.set(try segments.append(node: node, hash.digest(of: node)), level: level, index: index)
                }
            }
        }
    }
}
