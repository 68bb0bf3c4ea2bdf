internal import CipherSystem
internal import Foundation

/// A file for what does not fit into memory, which no other process can open: references and digests, as the repository has them.
final class ScratchFile: Sendable {
    private let file: TemporaryFile

    /// Beside which the files are that this process makes outside of a repository.
    static var path: String { FileManager.default.temporaryDirectory.path + "/cipherdb-backup" }

    /// A file with a name, which its owner removes.
    static func named(beside path: String = path) throws -> TemporaryFile {
        guard let file = try BackupError.naming(path, TemporaryFile(.backup, beside: path)) else {
            throw BackupError(.busy, path: path)
        }
        return file
    }

    init() throws {
        file = try ScratchFile.named()
        try BackupError.naming(file.path, FileCalls.remove(file.path))
    }

    func size() throws -> Int64 {
        try BackupError.naming(file.path, Platform.status(of: file.descriptor)).size
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try BackupError.naming(file.path, file.write(bytes, at: offset))
    }

    /// Returns how many bytes there were.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try BackupError.naming(file.path, Platform.read(file.descriptor, into: buffer, at: offset))
    }
}
