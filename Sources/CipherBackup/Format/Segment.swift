internal import CipherKeys
internal import CipherSystem

/// The random name of a segment, 16 bytes.
struct SegmentIdentifier: Hashable, Comparable, Sendable {
    private let words: SIMD2<UInt64>

    static let size = 16

    /// The first 16 of `bytes`.
    init(_ bytes: UnsafeRawBufferPointer) {
        words = bytes.loadUnaligned(as: SIMD2<UInt64>.self)
    }

    /// Stores its bytes.
    func copy(to place: UnsafeMutableRawPointer) { place.storeBytes(of: words, as: SIMD2<UInt64>.self) }

    static func random() throws -> SegmentIdentifier {
        try withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { bytes in
            try Cryptography.randomize(bytes)
            return SegmentIdentifier(UnsafeRawBufferPointer(bytes))
        }
    }

    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    static func < (left: SegmentIdentifier, right: SegmentIdentifier) -> Bool {
        (left.words[0], left.words[1]) < (right.words[0], right.words[1])
    }

    static let directory = "segments"

    var fileName: String { bytes.hexadecimal }

    /// The path of the segment in the repository.
    var name: String { SegmentIdentifier.directory + "/" + fileName }

    /// The identifier in a name of the directory `segments`; nil where the name is no segment's.
    init?(fileName: String) {
        let digits = Array(fileName.utf8)
        guard digits.count == 2 * SegmentIdentifier.size else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<(index + 2)], as: UTF8.self)
            guard pair.lowercased() == pair, pair.first != "+", let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        self = bytes.withUnsafeBytes { SegmentIdentifier($0) }
    }
}

/// The first bytes of a segment: `CipherBS`, the version, the identifiers of the repository and of the segment.
enum SegmentHeader {
    private static let magic = Array("CipherBS".utf8)

    static func bytes(_ repository: [UInt8], _ segment: SegmentIdentifier) -> [UInt8] {
        magic + UInt16(Manifest.version).bigEndianBytes + repository + segment.bytes
    }
}

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
