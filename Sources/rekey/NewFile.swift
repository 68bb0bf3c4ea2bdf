import Foundation
import Rekeying

/// A text file that replaces nothing.
enum NewFile {
    /// Whether anything stands at `path`, be it a link to nothing.
    static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Makes the file; throws where anything of its name exists.
    static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw errno == EEXIST ? FileProblem.exists(path: path) : FileFailure(path: path, code: errno)
        }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
        } catch {
            unlink(path)
            throw FileFailure(path: path, code: EIO)
        }
    }
}
