internal import CipherSystem

/// Why an operation on a repository of backups fails.
public enum BackupError: Error, Equatable, Sendable {
    /// The location is empty, or is to be reached by rclone and names no remote.
    case unusableLocation(_ location: String)
    /// The location has no repository.
    case notARepository(location: String)
    /// The location has no repository, and the keyring notes so many: one of them may be meant, on a disk that is not there.
    case otherThanNoted(location: String, repositories: Int)
    /// The directory is to become a repository and has other files.
    case otherFiles(location: String)
    /// The repository is of a version that this library does not know.
    case unknownVersion(location: String)
    /// The repository has no generation that was asked for, or none at all.
    case noGeneration(location: String)
    /// The newest generation is older than the caller knows of: the repository, or its newest part, was replaced by an old copy.
    case outdated(newest: UInt64, expected: UInt64)
    /// An object that a generation needs is not there.
    case missingObject(_ name: String)
    /// An object is not what was written.
    case damagedObject(_ name: String)
    /// The MAC of a manifest is not that of the key: somebody without the key wrote or changed it.
    case altered(_ name: String)
    /// A manifest was written without a key, so the key cannot prove it. The number is that of the newest generation that the key proves; nil
    /// where there is none.
    case unauthenticated(_ name: String, newestProved: UInt64? = nil)
    /// A manifest is authenticated with another key: the database had another key then, or the key is wrong.
    case otherKey(_ name: String)
    /// The repository stores no keyring that has the key of the generation: it was stored without one.
    case noKeyring(location: String, generation: UInt64)
    /// Another process uses the repository.
    case busy(location: String)
    /// A program that carries the objects failed.
    case transport(_ message: String)
    /// A call of the system failed on a file, with this `errno`.
    case system(path: String, code: Int32)

    /// Names `path` in what a call of the system throws.
    static func naming<Result>(
        _ path: String,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(BackupError) -> Result {
        do {
            return try call()
        } catch {
            throw .system(path: path, code: error.code)
        }
    }
}

extension BackupError: CustomStringConvertible {
    /// A sentence that names the object, and what to do.
    public var description: String {
        switch self {
        case .unusableLocation(""): "the location of the repository is empty; give a directory or rclone:REMOTE:PATH"
        case .unusableLocation(let location):
            "\(location): names no remote; give rclone:REMOTE:PATH, where REMOTE is one that rclone knows"
        case .notARepository(let location): "\(location): missing, or not a repository of backups"
        case .otherThanNoted(let location, let repositories):
            "\(location): missing, or not a repository of backups, and the keyring notes \(repositories == 1 ? "one" : "\(repositories)"): "
                + "is its disk mounted?"
        case .otherFiles(let location):
            "\(location): the directory has other files and is no repository of backups; give a new or an empty directory"
        case .unknownVersion(let location): "\(location): the repository has a version that this CipherDB does not know"
        case .noGeneration(let location): "\(location): the repository has no such generation"
        case .outdated(let newest, let expected):
            "the newest generation is \(newest), and \(expected) or later was expected: newer ones were removed, or an old copy took their place"
        case .missingObject(let name): "\(name): missing; it was removed or not copied"
        case .damagedObject(let name): "\(name): damaged: its bytes are not those that were written"
        case .altered(let name): "\(name): the MAC is wrong: the manifest was changed by somebody without the key"
        case .unauthenticated(let name, let newest):
            "\(name): written without a key, so the key cannot prove that its pages are of one state"
                + (newest.map { "; the newest generation that the key proves is \($0)" } ?? "")
        case .otherKey(let name):
            "\(name): authenticated with another key: the database had another key then, or the key is wrong"
        case .noKeyring(let location, let generation):
            "\(location): no keyring that is stored has the key of generation \(generation): the keyring or the key of that time is needed"
        case .busy(let location): "\(location): another process uses the repository"
        case .transport(let message): message
        case .system(let path, let code): "\(path): \(Errno(code: code))"
        }
    }
}
