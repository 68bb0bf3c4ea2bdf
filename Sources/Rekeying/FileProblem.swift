internal import CipherKeys

/// A path that no operation can begin with.
public enum FileProblem: Error, Equatable, Sendable {
    /// Nothing stands there.
    case missing(path: String)
    /// A folder, a pipe or a device.
    case notAFile(path: String)
    /// The system refuses to say what stands there, or to let it be written.
    case noPermission(path: String)
    /// The file has a second name, under which the old file would go on.
    case severalNames(path: String)
    /// Something stands there where a new file shall be.
    case exists(path: String)
    /// The name is that of a journal or log of a database, or of a file that a run of this library may leave.
    case belongs(path: String)
    /// The path is on another disk than the database.
    case otherDisk(path: String)
    /// The disk has fewer bytes left than the operation needs.
    case noSpace(path: String, needed: Int64, free: Int64)

    /// Throws where `path` is not a file that this process may use.
    static func check(_ path: String, forWriting: Bool) throws {
        let status: FileStatus
        do {
            status = try Platform.status(of: path)
        } catch {
            if error == .noSuchFile { throw FileProblem.missing(path: path) }
            throw FileFailure(path: path, code: error.code)
        }
        guard status.kind == .regular else { throw FileProblem.notAFile(path: path) }
        guard Platform.mayRead(path), !forWriting || Platform.mayWrite(path) else {
            throw FileProblem.noPermission(path: path)
        }
    }
}

extension FileProblem: CustomStringConvertible {
    /// A sentence naming the path.
    public var description: String {
        switch self {
        case .missing(let path): path.isEmpty ? "no file is named" : "\(path): no such file"
        case .notAFile(let path): "\(path): not a file"
        case .noPermission(let path): "\(path): permission denied"
        case .severalNames(let path):
            "\(path): the file has several names (hard links), and the others would keep the old content; "
                + "remove them, or use the change in place"
        case .exists(let path): "\(path): exists already"
        case .belongs(let path): "\(path): the name belongs to a database beside it; take another"
        case .otherDisk(let path): "\(path): on another disk than the database"
        case .noSpace(let path, let needed, let free):
            "\(path): needs \(needed) bytes beside it, and the disk has \(free) left"
        }
    }
}
