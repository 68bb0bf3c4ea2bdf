internal import CipherSystem

/// Says which generations prunes have removed, so that others that are missing are noticed.
struct PruneRecord: Sendable {
    let repository: [UInt8]
    /// The numbers of the generations.
    let ranges: NumberRanges<UInt64>

    static let directory = "prunes"
    /// Of millions of ranges.
    static let mostBytes = 64 << 20
    private static let magic = Array("CipherBP".utf8)

    init(repository: [UInt8], ranges: NumberRanges<UInt64>) {
        self.repository = repository
        self.ranges = ranges
    }

    /// The content and its digest. It has no MAC: who can remove generations can also remove the record.
    func file() throws -> [UInt8] {
        var content = PruneRecord.magic + UInt16(Manifest.version).bigEndianBytes + repository
        content += UInt32(ranges.ranges.count).bigEndianBytes
        content += ranges.ranges.flatMap { $0.lowerBound.bigEndianBytes + $0.upperBound.bigEndianBytes }
        return try DigestedObject.file(content)
    }

    /// Nil where it is not what was written.
    init?(_ file: [UInt8]) throws {
        guard let content = try DigestedObject.content(file, magic: PruneRecord.magic) else { return nil }
        var reader = ByteReader(content, at: PruneRecord.magic.count)
        guard reader.bigEndian(2) == Manifest.version, let repository = reader.bytes(Manifest.repositorySize),
            let count = reader.bigEndian(4)
        else { return nil }
        var ranges: [ClosedRange<UInt64>] = []
        for _ in 0..<count {
            guard let first = reader.bigEndian(8), let last = reader.bigEndian(8), first <= last,
                last <= Manifest.highestNumber
            else { return nil }
            ranges.append(first...last)
        }
        guard reader.position == content.endIndex else { return nil }
        self.repository = Array(repository)
        self.ranges = NumberRanges(ranges)
    }
}
