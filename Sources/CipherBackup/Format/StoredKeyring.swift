internal import CipherKeys
internal import CipherSystem

/// A wrapped keyring in a repository, with the identifiers of its keys. Only a secret of the keyring proves it.
struct StoredKeyring: Sendable {
    /// Of the object: a number that counts them, and 16 digits of the digest.
    let name: String
    let number: UInt64
    /// ``BackupKey/identifier`` of each key that the keyring has.
    let identifiers: Set<[UInt8]>
    /// The file.
    let keyring: [UInt8]
    /// The bytes of the object.
    let file: [UInt8]
    /// For errors.
    private let place: String

    static let directory = "keyrings"
    private static let magic = Array("CipherBK".utf8)
    /// More than the largest keyring and its keys need.
    private static let mostBytes = 1 << 17

    /// A new one.
    ///
    /// - Parameter number: One more than that of the newest.
    init(_ keyring: [UInt8], _ identifiers: Set<[UInt8]>, number: UInt64, repository: [UInt8]) throws {
        self.keyring = keyring
        self.identifiers = identifiers
        self.number = number
        var content = StoredKeyring.magic + UInt16(Manifest.version).bigEndianBytes + repository
        content += UInt16(identifiers.count).bigEndianBytes
        content += identifiers.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
        file = try DigestedObject.file(content + keyring)
        name = try StoredManifest.name(number, Cryptography.SHA256().digest(of: file))
        place = StoredKeyring.directory + "/" + name
    }

    /// Reads the object `name`. Throws where it cannot be read, has no keyring, is not what was written, or belongs to another name or
    /// repository.
    init(_ name: String, _ storage: any BackupStorage, _ identifier: [UInt8]) throws {
        let path = StoredKeyring.directory + "/" + name
        place = "\(storage.description)/\(path)"
        let damage = BackupError(.damagedObject, path: place)
        do {
            file = try storage.bytes(path, most: StoredKeyring.mostBytes)
        } catch let error as Errno {
            throw BackupError(.system, path: place, errno: error.code)
        }
        guard let number = StoredManifest.number(inName: name),
            try StoredManifest.name(number, Cryptography.SHA256().digest(of: file)) == name,
            let content = try DigestedObject.content(file, magic: StoredKeyring.magic)
        else { throw damage }
        var reader = ByteReader(content, at: StoredKeyring.magic.count)
        guard reader.bigEndian(2) == Manifest.version,
            reader.bytes(Manifest.repositorySize)?.elementsEqual(identifier) == true,
            let count = reader.bigEndian(2)
        else { throw damage }
        var identifiers: Set<[UInt8]> = []
        for _ in 0..<count {
            guard let identifier = reader.bytes(BackupKey.identifierSize) else { throw damage }
            identifiers.insert(Array(identifier))
        }
        self.name = name
        self.number = number
        self.identifiers = identifiers
        keyring = Array(content[reader.position...])
        _ = try copy.content()
    }

    /// The keyring, where no call writes to it.
    var copy: Keyring { Keyring(keyring, readFrom: place) }
}
