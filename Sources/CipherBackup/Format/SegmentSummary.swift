internal import CipherKeys
internal import CipherSystem

/// What a manifest says of a segment that its generation needs.
struct SegmentSummary: Hashable, Sendable {
    let identifier: SegmentIdentifier
    /// Bytes of the whole segment.
    let size: UInt64
    /// Where the nodes begin, behind the blocks.
    let nodes: UInt64
    /// Of the whole segment.
    let digest: Digest

    init(identifier: SegmentIdentifier, size: UInt64, nodes: UInt64, digest: Digest) {
        self.identifier = identifier
        self.size = size
        self.nodes = nodes
        self.digest = digest
    }

    /// 2^40: much more than any segment has; sums of sizes do not overflow.
    private static let largest: UInt64 = 1 << 40

    init?(_ reader: inout ByteReader) {
        guard let identifier = reader.bytes(SegmentIdentifier.size), let size = reader.bigEndian(8),
            let nodes = reader.bigEndian(8), let digest = reader.bytes(Digest.size), nodes <= size,
            size <= SegmentSummary.largest
        else { return nil }
        self.init(
            identifier: identifier.withUnsafeBytes { SegmentIdentifier($0) },
            size: size,
            nodes: nodes,
            digest: digest.withUnsafeBytes { Digest($0) }
        )
    }

    var bytes: [UInt8] {
        identifier.bytes + size.bigEndianBytes + nodes.bigEndianBytes + digest.bytes
    }
}
