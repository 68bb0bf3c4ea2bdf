internal import CipherKeys

/// A manifest as it is stored.
package struct StoredManifest: Sendable {
    /// The number in ten digits, `-`, the first 16 digits of the file's digest.
    let name: String
    let file: [UInt8]
    package let manifest: Manifest

    static let directory = "generations"

    /// Of the file: what the next manifest has as ``Manifest/previous``.
    var digest: Digest {
        get throws { try OpenSSL.SHA256().digest(of: file) }
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
        name = try StoredManifest.name(manifest.number, OpenSSL.SHA256().digest(of: file))
    }

    /// Reads the object `name`. Throws where it is not what was written, or belongs to another name or repository.
    init(_ name: String, _ storage: any BackupStorage, _ marker: RepositoryMarker) throws {
        self.name = name
        let path = StoredManifest.directory + "/" + name
        file = try storage.bytes(path, most: Manifest.mostBytes)
        guard let manifest = try Manifest(file), manifest.repository == marker.identifier,
            try StoredManifest.name(manifest.number, OpenSSL.SHA256().digest(of: file)) == name
        else { throw BackupError(.damagedObject, path: "\(storage.description)/\(path)") }
        self.manifest = manifest
    }

    /// The names of the segments that it needs and that are missing, or have another size.
    func lostSegments(_ storage: any BackupStorage) throws -> [String] {
        let sizes = try storage.sizes(in: SegmentIdentifier.directory)
        return manifest.segments.filter { segment in
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
