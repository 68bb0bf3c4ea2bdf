internal import CipherKeys
internal import CipherSystem

/// A file that becomes an object of a repository. It has another name until it is complete.
final class NewObject {
    let name: String
    let file: TemporaryFile
    private(set) var size: UInt64 = 0
    private let hash: OpenSSL.SHA256
    private var isAdded = false

    /// - Parameter path: That of the object, beside which the file is.
    init(_ name: String, beside path: String) throws {
        self.name = name
        file = try ScratchFile.named(beside: path)
        hash = try OpenSSL.SHA256()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try BackupError.naming(file.path, file.write(bytes, at: Int64(size)))
        try hash.update(bytes)
        size += UInt64(bytes.count)
    }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try append($0) }
    }

    /// SHA-256 of all that was appended; to be called once.
    func digest() throws -> Digest { try hash.finish() }

    /// Says that the file is the repository's by now.
    func markAdded() { isAdded = true }

    /// Removes the file, unless it became an object.
    func discard() {
        if isAdded { file.close() } else { file.discard() }
    }
}
