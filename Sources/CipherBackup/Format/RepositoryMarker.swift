internal import CipherSystem

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
