internal import CipherDB
internal import CipherKeys

/// Overwrites a file with random bytes, its first page before all others.
///
/// A connection that still has the file open finds no database in it at its next read. That nothing can be recovered is
/// more than can be promised on a disk that writes elsewhere: see SECURITY.md.
struct Erasure {
    private let size: Int64
    private let write: (UnsafeRawBufferPointer, Int64) throws -> Void
    private let sync: () throws -> Void
    private let close: () -> Void

    /// The file that a run has kept everybody out of.
    init(_ file: ExclusiveFile, at path: String) throws {
        size = try file.size()
        write = { bytes, offset in
            try FileFailure.naming(path) { () throws(Errno) in try Faults.check(.write, path) }
            try file.write(bytes, at: offset)
        }
        sync = {
            try FileFailure.naming(path) { () throws(Errno) in try Faults.check(.sync, path) }
            try file.sync()
        }
        close = {}
    }

    /// A file that nobody uses; nil where somebody does.
    init?(path: String) throws {
        let descriptor = try FileFailure.naming(path) { () throws(Errno) in try FileCalls.openExisting(path) }
        guard FileCalls.tryLock(descriptor) else {
            Platform.close(descriptor)
            return nil
        }
        do {
            size = try FileFailure.naming(path) { () throws(Errno) in try Platform.status(of: descriptor).size }
        } catch {
            Platform.close(descriptor)
            throw error
        }
        write = { bytes, offset in
            try FileFailure.naming(path) { () throws(Errno) in
                try FileCalls.write(bytes, to: descriptor, at: offset, path)
            }
        }
        sync = { try FileFailure.naming(path) { () throws(Errno) in try FileCalls.sync(descriptor, path) } }
        close = { Platform.close(descriptor) }
    }

    /// Does it, and returns when it is on the disk.
    func run(progress: (_ done: Int64, _ all: Int64) throws -> Void) throws {
        defer { close() }
        let noise = try SecretBytes.random(count: Int(min(size, 1 << 20)))
        try noise.withUnsafeBytes { noise in
            try write(UnsafeRawBufferPointer(rebasing: noise.prefix(65536)), 0)
            try sync()
            var offset: Int64 = 0
            while offset < size {
                let part = noise.prefix(Int(min(Int64(noise.count), size - offset)))
                try write(UnsafeRawBufferPointer(rebasing: part), offset)
                offset += Int64(part.count)
                try progress(offset, size)
            }
        }
        try sync()
    }
}
