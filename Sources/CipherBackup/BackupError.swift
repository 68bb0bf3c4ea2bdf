public import CipherKeys
internal import CipherSystem

/// Why an operation on a repository of backups fails: `catch BackupError.notARepository`.
public struct BackupError: CodedError {
    /// The cause.
    public let code: ErrorCode<BackupError>
    /// The location of the repository, or the name of the object that the error is about.
    public let path: String
    /// The system's `errno`, of `system`.
    public let errno: Int32?
    /// The generation that no stored keyring opens, of `noKeyring`.
    public let generation: UInt64?
    /// The newest generation, of `outdated`.
    public let newest: UInt64?
    /// The generation that the caller knows of, of `outdated`.
    public let expected: UInt64?
    /// The newest generation that the key proves, of `unauthenticated`; nil where there is none.
    public let newestProved: UInt64?
    /// How many repositories the keyring notes, of `otherThanNoted`.
    public let repositories: Int?
    /// What the program that carries the objects says, of `transport`.
    public let message: String?

    package init(
        _ code: ErrorCode<BackupError>,
        path: String = "",
        errno: Int32? = nil,
        generation: UInt64? = nil,
        newest: UInt64? = nil,
        expected: UInt64? = nil,
        newestProved: UInt64? = nil,
        repositories: Int? = nil,
        message: String? = nil
    ) {
        self.code = code
        self.path = path
        self.errno = errno
        self.generation = generation
        self.newest = newest
        self.expected = expected
        self.newestProved = newestProved
        self.repositories = repositories
        self.message = message
    }

    /// Names `path` in what a call of the system throws.
    static func naming<Result>(
        _ path: String,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(BackupError) -> Result {
        do {
            return try call()
        } catch {
            throw BackupError(.system, path: path, errno: error.code)
        }
    }
}

extension ErrorCode where Failure == BackupError {
    /// The location is empty, or is to be reached by rclone and names no remote.
    public static var unusableLocation: Self {
        Self {
            $0.path.isEmpty
                ? "the location of the repository is empty; give a directory or rclone:REMOTE:PATH"
                : "names no remote; give rclone:REMOTE:PATH, where REMOTE is one that rclone knows"
        }
    }
    /// The location has no repository.
    public static var notARepository: Self { Self("missing, or not a repository of backups") }
    /// The location has no repository, or another database's, and the keyring notes so many: one of them may be meant, on a disk that is not
    /// there.
    public static var otherThanNoted: Self {
        Self {
            "missing, or not the repository of this database, and the keyring notes \($0.repositories == 1 ? "one" : "\(given: $0.repositories)"): "
                + "is its disk mounted?"
        }
    }
    /// The directory is to become a repository and has other files.
    public static var otherFiles: Self {
        Self("the directory has other files and is no repository of backups; give a new or an empty directory")
    }
    /// The repository is of a version that this library does not know.
    public static var unknownVersion: Self { Self("the repository has a version that this CipherDB does not know") }
    /// The repository has no generation that was asked for, or none at all.
    public static var noGeneration: Self { Self("the repository has no such generation") }
    /// The newest generation is older than the caller knows of: the repository, or its newest part, was replaced by an old copy.
    public static var outdated: Self {
        Self {
            "the newest generation is \(given: $0.newest), and \(given: $0.expected) or later was expected: newer ones were removed, or an old "
                + "copy took their place"
        }
    }
    /// An object that a generation needs is not there.
    public static var missingObject: Self { Self("missing; it was removed or not copied") }
    /// An object is not what was written.
    public static var damagedObject: Self { Self("damaged: its bytes are not those that were written") }
    /// The MAC of a manifest is not that of the key: somebody without the key wrote or changed it.
    public static var altered: Self {
        Self("the MAC is wrong: the manifest was changed by somebody without the key")
    }
    /// A manifest was written without a key, so the key cannot prove it.
    public static var unauthenticated: Self {
        Self {
            "written without a key, so the key cannot prove that its pages are of one state"
                + ($0.newestProved.map { "; the newest generation that the key proves is \($0)" } ?? "")
        }
    }
    /// A manifest is authenticated with another key: the database had another key then, or the key is wrong.
    public static var otherKey: Self {
        Self("authenticated with another key: the database had another key then, or the key is wrong")
    }
    /// The repository stores no keyring that has the key of the generation: it was stored without one.
    public static var noKeyring: Self {
        Self {
            $0.generation == nil
                ? "no keyring is stored that can be read"
                : "no keyring that is stored has the key of generation \(given: $0.generation): the keyring or the key of that time is needed"
        }
    }
    /// Another process uses the repository.
    public static var busy: Self { Self("another process uses the repository") }
    /// A program that carries the objects failed.
    public static var transport: Self { Self { "\(given: $0.message)" } }
    /// A call of the system failed on a file, with this `errno`.
    public static var system: Self { Self { "\(given: $0.errno.map(Errno.init(code:)))" } }
}
