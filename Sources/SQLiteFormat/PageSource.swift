internal import CipherSystem

/// Bytes of a database file, wherever they are read from: a descriptor of our own, or the engine's.
package protocol PageSource {
    /// The file's size in bytes.
    func size() throws -> Int64
    /// Reads at `offset` into `buffer`; fewer bytes than asked for only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension PageSource {
    /// Up to `count` bytes at `offset`.
    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            raw.initializeMemory(as: UInt8.self, repeating: 0)
            initialized = try read(into: raw, at: offset)
        }
    }
}

/// A file read through a descriptor of its own.
///
/// Closing any descriptor of a file drops all of the process's POSIX locks on it, so a database that an engine of this
/// process may have open is never read this way; its side files, which carry no locks, may be.
package final class FileBytes: PageSource {
    private let descriptor: Int32

    /// Opens a regular file for reading. Throws an `Errno`, or ``NotARegularFile``.
    package init(path: String) throws {
        descriptor = try Platform.openForReading(path)
        // A throw from here on runs deinit, which closes.
        guard try Platform.status(of: descriptor).kind == .regular else { throw NotARegularFile() }
    }

    deinit {
        Platform.close(descriptor)
    }

    package func size() throws -> Int64 {
        try Platform.status(of: descriptor).size
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try Platform.read(descriptor, into: buffer, at: offset)
    }
}

/// A directory, pipe or device where a database file is expected.
package struct NotARegularFile: Error, CustomStringConvertible {
    package init() {}
    package var description: String { "not a regular file" }
}

/// Where pages are written to, from several threads at once, each at a place of its own.
package protocol PageSink: Sendable {
    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws
}
