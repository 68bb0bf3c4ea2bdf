internal import CipherSystem

/// Which file has a path, and when it was changed: whether it may have changed since.
struct FileStamp {
    private let identity: [UInt64]
    private let size: Int64
    private let modified: Int64
    private let taken: Int64

    /// A change within the same tick of the file system's clock leaves the time of an earlier one.
    private static let tick: Int64 = 1_000_000_000

    init(_ path: String) throws {
        let status = try FileError.naming(path, Platform.status(of: path))
        (identity, size, modified) = (status.identity, status.size, status.modified)
        taken = Platform.wallClock
    }

    /// Whether both are of one file.
    func isSameFile(as other: FileStamp) -> Bool { identity == other.identity }

    /// Whether the file is certainly what it was when this one was taken.
    func isUnchanged(in later: FileStamp) -> Bool {
        isSameFile(as: later) && size == later.size && modified == later.modified && taken - modified > FileStamp.tick
    }
}
