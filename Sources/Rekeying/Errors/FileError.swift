internal import CipherKeys
internal import CipherSystem

/// An error of a file, before an operation or by the system.
public enum FileError: Error, Equatable, Sendable {
    /// Nothing stands there.
    case missing(path: String)
    /// A directory, a pipe or a device.
    case notAFile(path: String)
    /// The system refuses to say what stands there, or to let it be written.
    case noPermission(path: String)
    /// The file has a hard link, under which the old file would stay.
    case severalNames(path: String)
    /// The new file cannot get this owner or this group of the file.
    case ownership(path: String, owner: String?, group: String?)
    /// A file exists at the path of a new file.
    case exists(path: String)
    /// The name is that of a journal or log of a database, or of a file that a run of this library may leave.
    case belongs(path: String)
    /// The name is so long that the engine cannot make its journal beside the file.
    case nameTooLong(path: String)
    /// The path is on another disk than the database.
    case otherDisk(path: String)
    /// The disk has fewer bytes left than the operation needs.
    case noSpace(path: String, needed: Int64, free: Int64)
    /// A call of the system failed on the file, with this `errno`.
    case system(path: String, code: Int32)

    /// Throws where `path` is not a file that this process may use.
    static func check(_ path: String, forWriting: Bool) throws {
        let status: FileStatus
        do {
            status = try Platform.status(of: path)
        } catch {
            if error == .noSuchFile { throw FileError.missing(path: path) }
            throw FileError.system(path: path, code: error.code)
        }
        guard status.kind == .regular else { throw FileError.notAFile(path: path) }
        guard Platform.mayRead(path), !forWriting || Platform.mayWrite(path) else {
            throw FileError.noPermission(path: path)
        }
    }

    /// Names `path` in what a call of the system throws.
    static func naming<Result>(
        _ path: String,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(FileError) -> Result {
        do {
            return try call()
        } catch {
            throw .system(path: path, code: error.code)
        }
    }
}

extension FileError: CustomStringConvertible {
    /// A sentence naming the path.
    public var description: String {
        switch self {
        case .missing(let path): path.isEmpty ? "the path is empty" : "\(path): no such file"
        case .notAFile(let path): "\(path): not a file"
        case .noPermission(let path): "\(path): permission denied"
        case .severalNames(let path):
            "\(path): the file has hard links, which would keep the old content; "
                + "remove them, or change the key in place"
        case .ownership(let path, let owner, let group):
            "\(path): \(MissingOwnership(owner: owner, group: group).refusal)"
        case .exists(let path): "\(path): exists already"
        case .belongs(let path): "\(path): the name is that of a side file of a database; use another name"
        case .nameTooLong(let path):
            "\(path): the name leaves no room for that of the journal, which an in-place change needs; change the key without it"
        case .otherDisk(let path): "\(path): not on the file system of the database"
        case .noSpace(let path, let needed, let free):
            "\(path): needs \(needed) bytes free, and the file system has \(free) left"
        case .system(let path, let code): "\(path): \(Errno(code: code))"
        }
    }
}
