internal import CipherDB
internal import CipherKeys

/// Overwrites a file with random bytes, and returns when they are on the disk.
///
/// That nothing can be recovered is more than can be promised on a disk that writes elsewhere: see SECURITY.md.
final class Erasure {
    private let path: String
    private let descriptor: Int32
    private let size: Int64
    private let noise: SecretBytes

    /// The file at `path`, where nobody else is at it; else nil.
    ///
    /// - Parameter identity: Throws where it is not this file.
    init?(path: String, identity: [UInt64]) throws {
        self.path = path
        let descriptor = try FileFailure.naming(path) { () throws(Errno) in try FileCalls.openExisting(path) }
        self.descriptor = descriptor
        do {
            let status = try FileFailure.naming(path) { () throws(Errno) in try Platform.status(of: descriptor) }
            // Whoever can write to the folder could put a second name of another file there.
            guard status.kind == .regular, status.linkCount == 1, status.identity == identity else {
                throw FileProblem.notAFile(path: path)
            }
            size = status.size
            noise = try SecretBytes.random(count: 1 << 20)
        } catch {
            Platform.close(descriptor)
            throw error
        }
        guard FileCalls.tryLock(descriptor) else { return nil }
    }

    deinit {
        Platform.close(descriptor)
    }

    /// Does it. The system lets one thread at a time write to a file, so more would be of no use.
    func run(progress: (_ done: Int64, _ all: Int64) throws -> Void = { _, _ in }) throws {
        try noise.withUnsafeBytes { noise in
            var offset: Int64 = 0
            while offset < size {
                let part = UnsafeRawBufferPointer(rebasing: noise.prefix(Int(min(Int64(noise.count), size - offset))))
                try FileFailure.naming(path) { () throws(Errno) in
                    try FileCalls.write(part, to: descriptor, at: offset, path)
                }
                offset += Int64(part.count)
                try progress(offset, size)
            }
        }
        try FileFailure.naming(path) { () throws(Errno) in try FileCalls.sync(descriptor, path) }
    }

    /// Overwrites the beginning of a file that a run keeps everybody out of. Whoever has it open finds no database in it at
    /// the next read.
    ///
    /// - Parameter whole: Whether all of it is overwritten, because it has no name to be opened by.
    static func spoil(_ file: ExclusiveFile, whole: Bool) throws {
        try FileFailure.naming(file.path) { () throws(Errno) in try Faults.check(.write, file.path) }
        let size = try file.size()
        let noise = try SecretBytes.random(count: Int(min(size, 65536)))
        for offset in stride(from: 0, to: whole ? size : Int64(noise.count), by: 65536) {
            try noise.withUnsafeBytes {
                let part = $0.prefix(Int(min(65536, size - offset)))
                try file.write(UnsafeRawBufferPointer(rebasing: part), at: offset)
            }
        }
        try FileFailure.naming(file.path) { () throws(Errno) in try Faults.check(.sync, file.path) }
        try file.sync()
    }
}
