internal import CipherKeys
internal import CipherSystem

/// Makes a generation of blocks. Several threads may store blocks, one at a time.
final class GenerationWriter {
    let base: GenerationBase?
    /// Where blocks and nodes may be that are the same.
    private let adopted: GenerationBase?
    private let repository: BackupRepository
    private let identifier: [UInt8]
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
        _ identifier: [UInt8],
        base: GenerationBase?,
        key: BackupKey?,
        size: Int64,
        adoptsBlocks: Bool,
        keepsBlocks: Bool
    ) throws {
        self.repository = repository
        self.identifier = identifier
        self.base = base
        self.adopted = adoptsBlocks ? base : nil
        self.key = key
        self.size = size
        segments = SegmentWriter(repository.storage, repository: identifier)
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
            repository: identifier,
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
        let hash = try Cryptography.SHA256()
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

    private func append(_ node: [UInt8], _ hash: Cryptography.SHA256) throws -> BlockReference {
        try segments.append(node: node, hash.digest(of: node))
    }
}

/// Writes the blocks and nodes of a generation to new segments.
final class SegmentWriter {
    private let storage: any BackupStorage
    private let repository: [UInt8]
    private var current: (identifier: SegmentIdentifier, object: NewObject, nodes: UInt64?)?
    /// Those that are complete, and wait to be stored.
    private var waiting: [NewObject] = []
    /// Those that are complete.
    private(set) var segments: [SegmentSummary] = []
    /// Bytes of the segments that are complete.
    private(set) var size: UInt64 = 0
    /// Bytes after which a new segment begins: few objects for a large database, and little to send again after a failure.
    static let segmentSize: UInt64 = 64 << 20
    /// Each that waits has a descriptor.
    private static let mostWaiting = 256
    /// A child that is forked by the closure that shows progress stores nothing, and removes nothing of its parent's.
    private let owner = OwnerProcess()

    init(_ storage: any BackupStorage, repository: [UInt8]) {
        self.storage = storage
        self.repository = repository
    }

    /// Returns where the block `index` of the database is. No page is in two segments.
    func append(block: UnsafeRawBufferPointer, _ index: Int, _ digest: Digest) throws -> BlockReference {
        let isFirstOfPage = index % (CipherFormat.pageSizes.last! / BlockTree.blockSize) == 0
        if let current, current.object.size >= SegmentWriter.segmentSize, isFirstOfPage { try finish() }
        let (identifier, object, _) = try open()
        let offset = object.size
        try object.append(block)
        return BlockReference(segment: identifier, offset: offset, digest: digest)
    }

    /// Returns where the node is. No blocks follow.
    func append(node: [UInt8], _ digest: Digest) throws -> BlockReference {
        let (identifier, object, nodes) = try open()
        let offset = object.size
        if nodes == nil { current?.nodes = offset }
        try object.append(node)
        return BlockReference(segment: identifier, offset: offset, digest: digest)
    }

    private func open() throws -> (identifier: SegmentIdentifier, object: NewObject, nodes: UInt64?) {
        if let current { return current }
        let identifier = try SegmentIdentifier.random()
        let object = try storage.newObject(identifier.name)
        let opened = (identifier, object, nil as UInt64?)
        current = opened
        try object.append(SegmentHeader.bytes(repository, identifier))
        return opened
    }

    /// Completes the segment that is being written. It is stored by ``store()``: sending it may take long, and the database is locked
    /// while blocks are written.
    func finish() throws {
        guard let (identifier, object, nodes) = current else { return }
        let summary = SegmentSummary(
            identifier: identifier,
            size: object.size,
            nodes: nodes ?? object.size,
            digest: try object.digest()
        )
        current = nil
        waiting.append(object)
        segments.append(summary)
        size += summary.size
        if waiting.count >= SegmentWriter.mostWaiting { try store() }
    }

    /// Stores the segments that are complete.
    ///
    /// - Parameter beforeEach: What it throws ends this.
    func store(beforeEach: () throws -> Void = {}) throws {
        while let object = waiting.last {
            try beforeEach()
            try owner.check(.database)
            try storage.add(object)
            object.discard()
            waiting.removeLast()
        }
    }

    /// Removes what was written, stored or not, after a failure.
    func discard() {
        guard owner.isCurrent else { return }
        for object in waiting + [current?.object].compactMap({ $0 }) { object.discard() }
        current = nil
        waiting = []
        for segment in segments { try? storage.remove(segment.identifier.name) }
    }
}
