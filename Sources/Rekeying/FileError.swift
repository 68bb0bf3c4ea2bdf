public import CipherKeys
internal import CipherSystem

/// An error of a file, before an operation or by the system: `catch FileError.missing`.
public struct FileError: CodedError {
    /// The cause.
    public let code: ErrorCode<FileError>
    /// The path of the file; of `noSpace` that of the directory.
    public let path: String
    /// The system's `errno`, of `system`.
    public let errno: Int32?
    /// The owner that the new file cannot get, of `ownership`.
    public let owner: String?
    /// The group that the new file cannot get, of `ownership`.
    public let group: String?
    /// How many bytes the operation needs, of `noSpace`.
    public let needed: Int64?
    /// How many bytes are free, of `noSpace`.
    public let free: Int64?

    package init(
        _ code: ErrorCode<FileError>,
        path: String,
        errno: Int32? = nil,
        owner: String? = nil,
        group: String? = nil,
        needed: Int64? = nil,
        free: Int64? = nil
    ) {
        self.code = code
        self.path = path
        self.errno = errno
        self.owner = owner
        self.group = group
        self.needed = needed
        self.free = free
    }

    /// Throws where `path` is not a file that this process may use.
    static func check(_ path: String, forWriting: Bool) throws {
        let status: FileStatus
        do {
            status = try Platform.status(of: path)
        } catch {
            if error == .noSuchFile { throw FileError(.missing, path: path) }
            throw FileError(.system, path: path, errno: error.code)
        }
        guard status.kind == .regular else { throw FileError(.notAFile, path: path) }
        guard Platform.mayRead(path), !forWriting || Platform.mayWrite(path) else {
            throw FileError(.noPermission, path: path)
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
            throw FileError(.system, path: path, errno: error.code)
        }
    }
}

extension ErrorCode where Failure == FileError {
    /// Nothing stands there.
    public static var missing: Self { Self { $0.path.isEmpty ? "the path is empty" : "no such file" } }
    /// A directory, a pipe or a device.
    public static var notAFile: Self { Self("not a file") }
    /// The system refuses to say what stands there, or to let it be written.
    public static var noPermission: Self { Self("permission denied") }
    /// The file has a hard link, under which the old file would stay.
    public static var severalNames: Self {
        Self("the file has hard links, which would keep the old content; remove them, or change the key in place")
    }
    /// The new file cannot get this owner or this group of the file.
    public static var ownership: Self { Self { MissingOwnership(owner: $0.owner, group: $0.group).refusal } }
    /// A file exists at the path of a new file.
    public static var exists: Self { Self("exists already") }
    /// The name is that of a journal or log of a database, or of a file that a run of this library may leave.
    public static var belongs: Self { Self("the name is that of a side file of a database; use another name") }
    /// The name is so long that the engine cannot make its journal beside the file.
    public static var nameTooLong: Self {
        Self(
            "the name leaves no room for that of the journal, which an in-place change needs; change the key without it"
        )
    }
    /// The path is on another disk than the database.
    public static var otherDisk: Self { Self("not on the file system of the database") }
    /// The disk has fewer bytes left than the operation needs.
    public static var noSpace: Self {
        Self { "needs \(given: $0.needed) bytes free, and the file system has \(given: $0.free) left" }
    }
    /// A call of the system failed on the file, with this `errno`.
    public static var system: Self { Self { "\(given: $0.errno.map(Errno.init(code:)))" } }
}
