internal import CipherKeys
internal import CipherSystem

/// An object that ends with the digest of all before it: a manifest, a record of prunes, the marker of a repository.
enum DigestedObject {
    static func file(_ content: [UInt8]) throws -> [UInt8] {
        try content + Cryptography.SHA256().digest(of: content).bytes
    }

    /// The content of a file; nil where it does not begin with `magic`, or the digest is wrong.
    static func content(_ file: [UInt8], magic: [UInt8]) throws -> ArraySlice<UInt8>? {
        let end = file.count - Digest.size
        guard end >= magic.count, file.starts(with: magic),
            try Cryptography.SHA256().digest(of: Array(file[..<end])).bytes.elementsEqual(file[end...])
        else { return nil }
        return file[..<end]
    }
}

/// The object by which a repository is recognised: 8 bytes `CipherBR`, version, identifier, time of creation, digest.
struct RepositoryMarker: Sendable {
    static let name = "repository"
    private static let magic = Array("CipherBR".utf8)
    /// Random, 16 bytes.
    let identifier: [UInt8]
    let created: UInt64

    init(created: UInt64) throws {
        identifier = try SegmentIdentifier.random().bytes
        self.created = created
    }

    func file() throws -> [UInt8] {
        let content =
            RepositoryMarker.magic + UInt16(Manifest.version).bigEndianBytes + identifier + created.bigEndianBytes
        return try DigestedObject.file(content)
    }

    init(_ file: [UInt8], location: String) throws {
        guard file.starts(with: RepositoryMarker.magic) else { throw BackupError(.notARepository, path: location) }
        var reader = ByteReader(file[...], at: RepositoryMarker.magic.count)
        guard let version = reader.bigEndian(2) else { throw BackupError(.notARepository, path: location) }
        guard version == Manifest.version else { throw BackupError(.unknownVersion, path: location) }
        guard let identifier = reader.bytes(Manifest.repositorySize), let created = reader.bigEndian(8),
            try DigestedObject.content(file, magic: RepositoryMarker.magic)?.endIndex == reader.position
        else { throw BackupError(.damagedObject, path: "\(location)/\(RepositoryMarker.name)") }
        self.identifier = Array(identifier)
        self.created = created
    }
}

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
