internal import CipherKeys

/// Where a block, or a node of the tree, is in the repository, and what its bytes are. Its size follows from what it is.
struct BlockReference: Hashable, Sendable {
    let segment: SegmentIdentifier
    /// Of its first byte in the segment.
    let offset: UInt64
    let digest: Digest

    /// As stored: segment, offset, digest.
    static let size = SegmentIdentifier.size + 8 + Digest.size

    init(segment: SegmentIdentifier, offset: UInt64, digest: Digest) {
        self.segment = segment
        self.offset = offset
        self.digest = digest
    }

    /// That of a block of zeros, which is stored nowhere: 56 zeros.
    static let zeros = [UInt8](repeating: 0, count: size).withUnsafeBytes { BlockReference($0) }

    /// The first 56 of `bytes`.
    init(_ bytes: UnsafeRawBufferPointer) {
        segment = SegmentIdentifier(bytes)
        offset = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: SegmentIdentifier.size, as: UInt64.self))
        digest = Digest(UnsafeRawBufferPointer(rebasing: bytes[(SegmentIdentifier.size + 8)...]))
    }

    /// Those of which a node is made.
    static func all(in node: [UInt8]) -> [BlockReference] {
        node.withUnsafeBytes { node in
            stride(from: 0, to: node.count, by: size).map {
                BlockReference(UnsafeRawBufferPointer(rebasing: node[$0...]))
            }
        }
    }

    /// The node of which they are made.
    static func node(of references: [BlockReference]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: references.count * size) { bytes, count in
            let bytes = UnsafeMutableRawBufferPointer(bytes)
            for (place, reference) in references.enumerated() {
                reference.segment.copy(to: bytes.baseAddress! + place * size)
                let rest = bytes.baseAddress! + place * size + SegmentIdentifier.size
                rest.storeBytes(of: reference.offset.bigEndian, as: UInt64.self)
                reference.digest.withUnsafeBytes {
                    (rest + 8).copyMemory(from: $0.baseAddress!, byteCount: Digest.size)
                }
            }
            count = bytes.count
        }
    }
}

extension FixedWidthInteger {
    /// Its bytes, the most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
