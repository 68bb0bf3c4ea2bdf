import CipherKeys
internal import CipherSystem
import Foundation
import Rekeying

/// A text file that replaces nothing, and that its owner alone can read.
enum OutputFile {
    /// Whether anything stands at `path`, be it a link to nothing.
    static func isTaken(_ path: String) -> Bool {
        (try? Platform.statusOfLink(path)) != nil
    }

    /// Makes the file; throws where anything of its name exists.
    static func write(_ text: String, to path: String) throws {
        let descriptor: Int32
        do {
            descriptor = Int32(
                try Platform.call(path) { Int(open($0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)) }
            )
        } catch .exists {
            throw FileError(.exists, path: path)
        } catch {
            throw FileError(.system, path: path, errno: error.code)
        }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
        } catch {
            try? Platform.remove(path)
            throw FileError(.system, path: path, errno: EIO)
        }
    }
}
