internal import CipherKeys

/// A file that the system failed on, and what it said.
public struct FileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The system's error number, `errno`.
    public let code: Int32

    /// What `code`, an `errno`, says about `path`.
    public init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    var isMissing: Bool { code == Errno.noSuchFile.code }

    /// The path and the system's own words.
    public var description: String { "\(path): \(Errno(code: code))" }

    /// Runs `body` and names `path` in what it throws.
    static func naming<Result>(_ path: String, _ body: () throws(Errno) -> Result) throws(FileFailure) -> Result {
        do {
            return try body()
        } catch {
            throw FileFailure(path: path, code: error.code)
        }
    }
}
