/// The file of a shared database, and the key that it is under.
package struct KeyedFile: Sendable {
    package let path: String
    package let key: VerifiedKey

    /// - Parameter path: As the engine has it: empty for a database in memory.
    init(_ path: String, _ key: VerifiedKey?) throws {
        guard !path.isEmpty else { throw DatabaseError(.misuse, "a database in memory has no file") }
        guard let key else { throw KeyError(.notEncrypted, path: path) }
        self.path = path
        self.key = key
    }
}

extension DatabaseReader {
    /// What another connection is opened with now. Of a queue or a pool it does not wait for a block.
    ///
    /// - Throws: ``DatabaseError`` for a database in memory, and after `close()`; ``KeyError`` for a plaintext file.
    package func keyedFile() throws -> KeyedFile {
        switch self {
        case let pool as DatabasePool: try pool.writer.latestKeyedFile()
        case let queue as DatabaseQueue: try queue.latestKeyedFile()
        // A program's own type, around one of these.
        default: try read { try KeyedFile($0.connection?.filename ?? "", $0.verifiedKey) }
        }
    }
}

extension DatabaseQueue {
    fileprivate func latestKeyedFile() throws -> KeyedFile {
        try owner.check(.database)
        guard let access = latestKey.withLock({ $0 }) else { throw DatabaseError.closed }
        return try KeyedFile(filename, access.key)
    }
}
