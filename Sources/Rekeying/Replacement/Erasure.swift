internal import CipherDB
internal import CipherKeys
internal import CipherSystem

/// Overwrites a file with random bytes, and returns when they are on the disk.
///
/// That nothing can be recovered is more than can be promised on a disk that writes elsewhere: see SECURITY.md.
final class Erasure {
    private let path: String
    private let descriptor: Int32
    private let size: Int64

    /// The file at `path`, where nobody else is at it; else nil.
    ///
    /// - Parameter identity: Throws where it is not this file.
    init?(path: String, identity: [UInt64]) throws {
        self.path = path
        let descriptor = try FileError.naming(path, FileCalls.openExisting(path))
        self.descriptor = descriptor
        do {
            let status = try FileError.naming(path, Platform.status(of: descriptor))
            // A user who can write to the directory could put a hard link to another file there.
            guard status.kind == .regular, status.linkCount == 1, status.identity == identity else {
                throw FileError(.notAFile, path: path)
            }
            size = status.size
        } catch {
            Platform.close(descriptor)
            throw error
        }
        guard FileCalls.tryLock(descriptor, path) else { return nil }
    }

    deinit {
        Platform.close(descriptor)
    }

    /// Does it. The system lets one thread at a time write to a file, so more would be of no use.
    func run(progress: (_ done: Int64, _ all: Int64) throws -> Void = { _, _ in }) throws {
        try Erasure.writeNoise(size) { part, offset in
            try FileError.naming(path, FileCalls.write(part, to: descriptor, at: offset, path))
            try progress(offset + Int64(part.count), size)
        }
        try FileError.naming(path, FileCalls.sync(descriptor, path))
    }

    /// Overwrites the beginning of a file that a run has locked. A process that has it open finds no database in it at
    /// the next read.
    ///
    /// - Parameter whole: Whether all of it is overwritten, because it has no name to be opened by.
    static func overwriteBeginning(_ file: ExclusiveFile, whole: Bool) throws {
        try FileError.naming(file.path, FaultInjection.check(.write, file.path))
        let size = try file.size()
        try writeNoise(whole ? size : min(size, 65536), at: 65536) { try file.write($0, at: $1) }
        try FileError.naming(file.path, FaultInjection.check(.sync, file.path))
        try file.sync()
    }

    /// Calls `write` with random bytes for each part of `size` bytes, and the offset of the part.
    static func writeNoise(
        _ size: Int64,
        at once: Int = 1 << 20,
        _ write: (UnsafeRawBufferPointer, Int64) throws -> Void
    ) throws {
        let noise = try SecretBytes.random(count: once)
        for offset in stride(from: 0, to: size, by: once) {
            try noise.withUnsafeBytes {
                try write(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(min(Int64(once), size - offset)))), offset)
            }
        }
    }
}
