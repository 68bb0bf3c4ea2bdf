internal import CipherDB
internal import CipherKeys
internal import CipherPages
internal import Synchronization

/// A new file beside a database, which takes its place when it is complete.
///
/// Its name says whose it is, so that a later run recognises what a killed one left: `NAME.rekey-` and 16 hexadecimal
/// digits. Only its owner can use it until then.
final class ImageFile: PageSink, PageSource {
    let path: String
    private let descriptor: Int32
    private let isOpen = Atomic(true)
    private let identity: [UInt64]

    /// Makes the file beside the database at `database`.
    init(beside database: String) throws {
        let path = try ImageFile.newName(for: database)
        self.path = path
        let descriptor = try FileFailure.naming(path) { () throws(Errno) in try FileCalls.create(path) }
        self.descriptor = descriptor
        identity = try FileFailure.naming(path) { () throws(Errno) in try Platform.status(of: descriptor).identity }
        // As long as the descriptor is open nobody takes the file for a leftover.
        guard FileCalls.tryLock(descriptor, path) else {
            throw DatabaseError(code: .busy, message: "\(path): another process takes it for a leftover; try again")
        }
    }

    deinit {
        close()
    }

    /// Closes it; it is not written or read any more.
    func close() {
        if isOpen.exchange(false, ordering: .relaxed) { Platform.close(descriptor) }
    }

    /// Overwrites what was written so far, also where it was closed.
    func overwrite() throws {
        guard isOpen.load(ordering: .relaxed) else {
            try Erasure(path: path, identity: identity)?.run()
            return
        }
        try Erasure.writeNoise(size()) { try write($0, at: $1) }
        try sync()
    }

    private static let infix = ".rekey-"

    /// A path of this kind that nothing has.
    static func newName(for database: String) throws -> String {
        try database + infix + Hexadecimal.randomName()
    }

    /// Whether a file of the name `name` is one of the database `database`.
    static func isImage(_ name: String, of database: String) -> Bool {
        let begin = Array((database + infix).utf8)
        guard name.utf8.starts(with: begin) else { return false }
        let digits = name.utf8.dropFirst(begin.count).prefix(16)
        // What the engine keeps beside a file while it writes to it.
        let rest = Array(name.utf8.dropFirst(begin.count + 16))
        guard rest.isEmpty || ["-journal", "-wal", "-shm"].contains(where: { $0.utf8.elementsEqual(rest) }) else {
            return false
        }
        return Hexadecimal.isRandomName(digits)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try FileFailure.naming(path) { () throws(Errno) in try FileCalls.write(bytes, to: descriptor, at: offset, path)
        }
    }

    func sync() throws {
        try FileFailure.naming(path) { () throws(Errno) in try FileCalls.sync(descriptor, path) }
    }

    /// Removes it, and what the engine may have left beside it.
    func discard() {
        for suffix in ["", "-journal", "-wal", "-shm"] { try? FileCalls.remove(path + suffix) }
    }

    /// Gives it a name that nothing may have, in place of its own.
    func giveName(_ name: String) throws {
        do {
            // Nobody takes a file with two names for a leftover to overwrite.
            try FileCalls.link(path, as: name)
        } catch .exists {
            throw FileProblem.exists(path: name)
        } catch {
            throw FileFailure(path: name, code: error.code)
        }
        // Closing it later could drop the locks of who has the new database open by then.
        close()
        do {
            try FileFailure.naming(path) { () throws(Errno) in try FileCalls.remove(path) }
            try FileFailure.naming(name) { () throws(Errno) in try FileCalls.syncFolder(of: name) }
        } catch {
            try? FileCalls.remove(name)
            throw error
        }
    }

    /// Takes over the owner, the group and the permissions of `other`.
    func adopt(_ other: ExclusiveFile) throws {
        try FileFailure.naming(path) { () throws(Errno) in
            try FileCalls.adopt(descriptor, from: other.descriptor, other.path)
        }
    }

    func size() throws -> Int64 {
        try FileFailure.naming(path) { () throws(Errno) in try Platform.status(of: descriptor).size }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try FileFailure.naming(path) { () throws(Errno) in
            try Faults.check(.read, path)
            return try Platform.read(descriptor, into: buffer, at: offset)
        }
    }
}
