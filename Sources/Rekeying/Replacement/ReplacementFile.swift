internal import CipherDB
internal import CipherSystem
internal import SQLiteFormat

/// A new file beside a database, which takes its place, or gets a name of its own, when it is complete.
final class ReplacementFile: PageSink, PageSource, Sendable {
    private let file: TemporaryFile
    private let pin: PinnedFile
    var path: String { file.path }

    /// Makes the file beside the database at `database`, for its owner alone.
    init(beside database: String) throws {
        guard let file = try FileError.naming(database, TemporaryFile(.database, beside: database)) else {
            throw DatabaseError(code: .busy, message: "\(database): another process removes the new file; try again")
        }
        self.file = file
        do {
            pin = try FileError.naming(file.path, PinnedFile(file.descriptor, file.path))
        } catch {
            file.discard()
            throw error
        }
    }

    /// Closes it; it is not written or read any more.
    func close() { file.close() }

    /// What it is, whatever names it has.
    var identity: [UInt64] { pin.identity }

    /// Overwrites what was written so far, also where it was closed, and where somebody gave it another name.
    func overwrite() throws {
        let descriptor = file.isClosed ? try FileError.naming(path, pin.open(path)) : file.descriptor
        defer { if file.isClosed { Platform.close(descriptor) } }
        try Erasure.writeNoise(try FileError.naming(path, Platform.status(of: descriptor).size)) {
            try FileError.naming(path, FileCalls.write($0, to: descriptor, at: $1, path))
        }
        try FileError.naming(path, FileCalls.sync(descriptor, path))
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try file.owner.check(.database)
        try FileError.naming(path, file.write(bytes, at: offset))
    }

    func sync() throws {
        try FileError.naming(path, file.sync())
    }

    /// Removes it, and what the engine may have left beside it.
    func discard() {
        guard file.owner.isCurrent else { return }
        for suffix in Leftovers.suffixes { try? FileCalls.remove(path + suffix) }
    }

    /// Gives it a name that nothing may have, in place of its own.
    func giveName(_ name: String) throws {
        try file.owner.check(.database)
        do {
            // Nobody takes a file with two names for a leftover to overwrite.
            try file.publish(as: name)
        } catch .exists {
            throw FileError(.exists, path: name)
        } catch {
            throw FileError(.system, path: name, errno: error.code)
        }
        guard pin.has(name: name) else {
            try? FileCalls.remove(name)
            throw DatabaseError(
                code: .busy,
                message: "\(path): another file was put in its place; \(name) was not made"
            )
        }
        // Closing it later could drop the locks of a connection to the new database.
        close()
        do {
            try FileError.naming(path, FileCalls.removeIfThere(path))
            try FileError.naming(name, FileCalls.syncDirectory(of: name))
        } catch {
            try? FileCalls.remove(name)
            throw error
        }
    }

    /// Takes over the owner, the group, the extended attributes and the permissions of `other`.
    func adopt(_ other: ExclusiveFile) throws {
        do {
            try FileCalls.adopt(file.descriptor, from: other.descriptor, other.path)
        } catch .ownership(let missing) {
            throw FileError(.ownership, path: other.path, owner: missing.owner, group: missing.group)
        } catch .system(let error, let place) {
            throw FileError(.system, path: place, errno: error.code)
        }
    }

    func size() throws -> Int64 {
        try FileError.naming(path, Platform.status(of: file.descriptor).size)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try FileError.naming(path, FaultInjection.check(.read, path))
        return try FileError.naming(path, Platform.read(file.descriptor, into: buffer, at: offset))
    }
}

/// The old file as a source of pages.
struct OldFile: PageSource {
    private let file: ExclusiveFile
    var path: String { file.path }

    init(_ file: ExclusiveFile) {
        self.file = file
    }

    func size() throws -> Int64 { try file.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try FileError.naming(file.path, FaultInjection.check(.read, file.path))
        return try file.read(into: buffer, at: offset)
    }
}
