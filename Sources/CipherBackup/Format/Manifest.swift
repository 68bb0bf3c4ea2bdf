package import CipherKeys
internal import CipherSystem

/// What a generation of a backup is: the state of a database at one time.
package struct Manifest: Sendable {
    /// The identifier of the repository, 16 bytes.
    package let repository: [UInt8]
    /// From 1.
    package let number: UInt64
    /// Seconds since 1970.
    package let time: UInt64
    /// Of the manifest before; zeros for the first.
    package let previous: Digest
    /// ``BackupKey/identifier`` of the key that the manifest is authenticated with; nil without one.
    package var keyIdentifier: [UInt8]?
    /// Bytes of the database.
    package let databaseSize: Int64
    /// Bytes that were stored for this generation alone.
    package let storedSize: Int64
    /// Of the tree.
    let root: BlockReference
    let segments: [SegmentSummary]
    /// Of the CipherDB that wrote it.
    package let writer: String

    static let magic = Array("CipherBG".utf8)
    static let version: UInt64 = 1
    static let repositorySize = 16
    /// More segments than a manifest ever needs: 2^48 bytes in segments of 64 MiB.
    private static let mostSegments = 1 << 23
    /// No file is larger.
    static let mostBytes = 1 << 10 + mostSegments * 64
    /// 2^40: one a second for thirty thousand years. Nothing that is computed with it overflows.
    static let highestNumber: UInt64 = 1 << 40

    /// The bytes that the MAC covers.
    func encoded() -> [UInt8] {
        var bytes = Manifest.magic + UInt16(Manifest.version).bigEndianBytes + repository
        bytes += number.bigEndianBytes + time.bigEndianBytes + previous.bytes
        bytes += keyIdentifier ?? [UInt8](repeating: 0, count: BackupKey.identifierSize)
        bytes += databaseSize.bigEndianBytes + storedSize.bigEndianBytes + BlockReference.node(of: [root])
        bytes += UInt32(segments.count).bigEndianBytes + segments.flatMap(\.bytes)
        let writer = Array(writer.utf8.prefix(32))
        return bytes + [UInt8(writer.count)] + writer
    }

    /// The file: with the MAC, or zeros, and the digest.
    func file(_ key: BackupKey?) throws -> [UInt8] {
        let content = encoded()
        let mac = try key.map { try $0.mac(of: content) } ?? [UInt8](repeating: 0, count: BackupKey.macSize)
        return try DigestedObject.file(content + mac)
    }

    /// Reads a file; nil where it is not what was written.
    init?(_ file: [UInt8]) throws {
        guard let content = try DigestedObject.content(file, magic: Manifest.magic)?.dropLast(BackupKey.macSize) else {
            return nil
        }
        var reader = ByteReader(content, at: Manifest.magic.count)
        guard reader.bigEndian(2) == Manifest.version, let repository = reader.bytes(Manifest.repositorySize),
            let number = reader.bigEndian(8), (1...Manifest.highestNumber).contains(number),
            let time = reader.bigEndian(8),
            let previous = reader.bytes(Digest.size), let identifier = reader.bytes(BackupKey.identifierSize),
            let databaseSize = reader.bigEndian(8), (1...(1 << 48)).contains(databaseSize),
            let storedSize = reader.bigEndian(8), storedSize <= 1 << 60, let root = reader.bytes(BlockReference.size),
            let count = reader.bigEndian(4), count <= Manifest.mostSegments
        else { return nil }
        self.repository = Array(repository)
        self.number = number
        self.time = time
        self.previous = previous.withUnsafeBytes { Digest($0) }
        keyIdentifier = identifier.allSatisfy { $0 == 0 } ? nil : Array(identifier)
        self.databaseSize = Int64(databaseSize)
        self.storedSize = Int64(storedSize)
        self.root = root.withUnsafeBytes { BlockReference($0) }
        var segments: [SegmentSummary] = []
        for _ in 0..<count {
            guard let segment = SegmentSummary(&reader) else { return nil }
            segments.append(segment)
        }
        self.segments = segments
        guard let length = reader.bigEndian(1), let writer = reader.bytes(Int(length)),
            reader.position == content.endIndex
        else {
            return nil
        }
        self.writer = String(decoding: writer, as: UTF8.self)
    }

    init(
        repository: [UInt8],
        number: UInt64,
        time: UInt64,
        previous: Digest,
        keyIdentifier: [UInt8]?,
        databaseSize: Int64,
        storedSize: Int64,
        root: BlockReference,
        segments: [SegmentSummary]
    ) {
        self.repository = repository
        self.number = number
        self.time = time
        self.previous = previous
        self.keyIdentifier = keyIdentifier
        self.databaseSize = databaseSize
        self.storedSize = storedSize
        self.root = root
        self.segments = segments
        writer = CipherDBVersion.current
    }
}

/// A manifest as it is stored.
package struct StoredManifest: Sendable {
    /// The number in ten digits, `-`, the first 16 digits of the file's digest.
    let name: String
    let file: [UInt8]
    package let manifest: Manifest

    static let directory = "generations"

    /// Of the file: what the next manifest has as ``Manifest/previous``.
    var digest: Digest {
        get throws { try Cryptography.SHA256().digest(of: file) }
    }

    static func name(_ number: UInt64, _ digest: Digest) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 10 - digits.count)) + digits + "-"
            + digest.bytes.prefix(8).hexadecimal
    }

    /// The number in a name of the directory; nil where the name is no manifest's.
    static func number(inName name: String) -> UInt64? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count >= 10, parts[1].count == 16, parts[0].allSatisfy(\.isNumber) else {
            return nil
        }
        return UInt64(parts[0]).flatMap { (1...Manifest.highestNumber).contains($0) ? $0 : nil }
    }

    /// A new manifest, with its MAC.
    init(_ manifest: Manifest, _ key: BackupKey?) throws {
        self.manifest = manifest
        file = try manifest.file(key)
        name = try StoredManifest.name(manifest.number, Cryptography.SHA256().digest(of: file))
    }

    /// Reads the object `name`. Throws where it is not what was written, or belongs to another name or repository.
    ///
    /// - Parameter identifier: That of the repository; nil where it is lost.
    init(_ name: String, _ storage: any BackupStorage, _ identifier: [UInt8]?) throws {
        self.name = name
        let path = StoredManifest.directory + "/" + name
        file = try storage.bytes(path, most: Manifest.mostBytes)
        guard let manifest = try Manifest(file), manifest.repository == identifier ?? manifest.repository,
            try StoredManifest.name(manifest.number, Cryptography.SHA256().digest(of: file)) == name
        else { throw BackupError(.damagedObject, path: "\(storage.description)/\(path)") }
        self.manifest = manifest
    }

    /// The names of the segments that it needs and that are missing, or have another size.
    ///
    /// - Parameter sizes: Those of the segments that are there, by file name.
    func lostSegments(_ sizes: [String: Int64]) -> [String] {
        manifest.segments.filter { segment in
            guard let size = sizes[segment.identifier.fileName] else { return true }
            return size >= 0 && UInt64(size) != segment.size
        }
        .map(\.identifier.name)
    }

    /// Whether one of the keys proves the manifest; true without keys, where nothing can.
    func counts(provedBy keys: [BackupKey]) -> Bool {
        keys.isEmpty || keys.contains { (try? authenticate($0)) != nil }
    }

    /// Throws where `key` does not prove the manifest.
    func authenticate(_ key: BackupKey) throws {
        guard let identifier = manifest.keyIdentifier else { throw BackupError(.unauthenticated, path: name) }
        guard identifier == key.identifier else { throw BackupError(.otherKey, path: name) }
        let content = file.dropLast(Digest.size + BackupKey.macSize)
        let mac = file.dropLast(Digest.size).suffix(BackupKey.macSize)
        guard try key.isRight(Array(mac), of: Array(content)) else { throw BackupError(.altered, path: name) }
    }
}
