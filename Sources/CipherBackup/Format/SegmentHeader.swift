internal import CipherKeys

/// The first bytes of a segment: `CipherBS`, the version, the identifiers of the repository and of the segment.
enum SegmentHeader {
    private static let magic = Array("CipherBS".utf8)

    static func bytes(_ repository: [UInt8], _ segment: SegmentIdentifier) -> [UInt8] {
        magic + UInt16(Manifest.version).bigEndianBytes + repository + segment.bytes
    }
}
