/// Reads all that a generation needs, as a restore does.
struct GenerationWalk {
    private let manifest: Manifest
    private let nodes: SegmentReader
    private let blocks: SegmentReader

    init(_ storage: any BackupStorage, _ manifest: Manifest) throws {
        self.manifest = manifest
        nodes = try SegmentReader(storage, manifest, nodesOnly: true)
        blocks = try SegmentReader(storage, manifest, nodesOnly: false)
    }

    /// Throws where something is not what was written.
    func run() throws { try visit(TreePiece(rootOf: manifest)) }

    private func visit(_ piece: TreePiece) throws {
        if piece.level > 0 {
            let bytes = try nodes.bytes(piece.reference, count: piece.storedSize)
            for child in piece.children(bytes) { try visit(child) }
        } else if piece.reference != .zeros {
            _ = try blocks.bytes(piece.reference, count: piece.storedSize)
        }
    }
}
