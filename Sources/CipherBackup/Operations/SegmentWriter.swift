internal import CipherKeys

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
            try storage.add(object)
            object.discard()
            waiting.removeLast()
        }
    }

    /// Removes what was written, stored or not, after a failure.
    func discard() {
        for object in waiting + [current?.object].compactMap({ $0 }) { object.discard() }
        current = nil
        waiting = []
        for segment in segments { try? storage.remove(segment.identifier.name) }
    }
}
