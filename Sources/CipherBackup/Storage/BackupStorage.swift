internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// Where the objects of a repository are. An object is added whole, read, and removed; it is never changed.
protocol BackupStorage: Sendable {
    /// The location, for errors.
    var description: String { get }

    /// Makes what an empty repository needs.
    func prepare() throws
    /// The names of the objects in a directory, sorted; none where there is no such directory.
    func names(in directory: String) throws -> [String]
    /// The names and sizes of the objects in a directory, -1 where a size is not known; none where there is no such directory.
    func sizes(in directory: String) throws -> [String: Int64]
    /// The names of those objects in a directory that no running process is about to refer to.
    func settledNames(in directory: String) throws -> [String]
    /// Reads an object. Throws `BackupError.missingObject`.
    ///
    /// - Parameters:
    ///   - offset: Where the part begins that is needed. Offsets in the result are those in the whole object.
    ///   - most: More bytes of it are not needed: a server that sends more does not fill this machine.
    func open(_ name: String, from offset: UInt64, most: UInt64) throws -> any PageSource
    /// A file that becomes an object.
    func newObject(_ name: String) throws -> NewObject
    /// Gives the object its name, when it is stored whole. An object of that name is a failure.
    func add(_ object: NewObject) throws
    func remove(_ name: String) throws
    /// Keeps others away while `body` runs: other writers, or if `exclusively` is false those who remove objects.
    func locked<Result>(exclusively: Bool, _ body: () throws -> Result) throws -> Result
}

extension BackupStorage {
    /// The bytes of an object that has few; of one that has more, so many that it is not what was written.
    func bytes(_ name: String, most: Int) throws -> [UInt8] {
        let object = try open(name, from: 0, most: UInt64(most) + 1)
        return try object.read(min(most + 1, Int(object.size())), at: 0)
    }

    /// Adds a small object.
    func add(_ name: String, _ bytes: [UInt8]) throws {
        let object = try newObject(name)
        defer { object.discard() }
        try object.append(bytes)
        try add(object)
    }
}

/// A file that becomes an object of a repository. It has another name until it is complete.
final class NewObject {
    let name: String
    let file: TemporaryFile
    private(set) var size: UInt64 = 0
    private let hash: Cryptography.SHA256
    private var isAdded = false

    /// - Parameter path: That of the object, beside which the file is.
    init(_ name: String, beside path: String) throws {
        self.name = name
        file = try ScratchFile.named(beside: path)
        hash = try Cryptography.SHA256()
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
