internal import CSQLCipher
internal import CipherKeys
package import CipherSystem
internal import SQLiteFormat

/// A database file that nobody else can read or write, by the engine's own locks, and that no engine is working on.
///
/// In WAL mode each open connection holds a lock, so nobody else has the file open. In rollback mode a connection that is
/// idle holds none: others may have the file open, and find it locked.
package final class ExclusiveFile: PageSource {
    private let unkeyed: UnkeyedFile
    private let file: EngineFile
    /// The engine's descriptor of the file: what it is and belongs to is asked of this, and not of a name.
    package let descriptor: Int32

    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` if another connection keeps the file for longer than the busy timeout.
    init(_ unkeyed: UnkeyedFile) throws {
        self.unkeyed = unkeyed
        file = unkeyed.pages.file
        let connection = unkeyed.connection
        try file.lockExclusively(waiting: unkeyed.busyMilliseconds)
        do {
            // The engine tells its descriptor to nobody; it is the one on the file of this name.
            guard let status = try? Platform.statusOfLink(connection.filename),
                let descriptor = Platform.descriptor(on: status.identity), !connection.hasMoved
            else {
                throw DatabaseError(.busy, "\(connection.filename): the file was replaced meanwhile; try again")
            }
            self.descriptor = descriptor
        } catch {
            file.unlock()
            throw error
        }
    }

    /// What the locked file is, whatever has its name.
    package func status() throws(Errno) -> FileStatus { try Platform.status(of: descriptor) }

    /// Throws where `name` is not one of the locked file.
    package func check(name: String) throws {
        guard try Platform.statusOfLink(name).identity == status().identity else {
            throw DatabaseError(.busy, "\(path): the file was replaced meanwhile; nothing was changed")
        }
    }

    /// The file's full path, links resolved.
    package var path: String { unkeyed.connection.filename }

    /// Whether the file's name is gone, or that of another file by now.
    package var hasMoved: Bool { unkeyed.connection.hasMoved }

    /// Gives the lock back, and keeps the file open.
    package func unlock() {
        file.unlock()
    }

    /// Gives the lock back, and closes the file.
    package func release() {
        file.unlock()
        unkeyed.close()
    }

    package func size() throws -> Int64 { try file.size() }

    /// The size in bytes after the engine has recovered what a journal or WAL holds.
    ///
    /// - Parameter pageSize: Bytes in a page; nil where the file is in plaintext and says so itself.
    package func sizeAtRest(pageSize: Int?) throws -> Int64 {
        let pageSize = try pageSize ?? DatabaseHeader(file.read(100, at: 0)).pageSize
        return try unkeyed.pages.newestAfterRecovery(pageSize: pageSize, log: .valid).size()
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try file.read(into: buffer, at: offset)
    }

    /// Overwrites the bytes of a file that is discarded.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try file.write(bytes, at: offset)
    }

    /// Returns when what was written is on the disk.
    package func sync() throws {
        try file.sync()
    }
}
