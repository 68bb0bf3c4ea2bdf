public import CipherKeys

extension DatabasePool {
    /// Opens the file with its key, verifies it, and sets its journal to the write-ahead log.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key. Such a pool has one connection:
    ///     its blocks run one at a time, and a reading block inside of a writing one throws.
    ///   - key: The key, or the keyring that holds it; none only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: ``Configuration/maximumReaders`` and ``Configuration/readerWaitingLimit`` are the pool's.
    ///   - flags: For reading and writing, and made where it does not exist, unless set. For reading only, the journal stays
    ///     what it is, and writing throws.
    /// - Throws: as ``Database/open(key:flags:)``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: some KeyProvider = ProvidedKey.none,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let writing = try configuration.ofWriter(path, flags)
        self.init(try DatabaseQueue(path: path, key: key, configuration: writing, flags: flags), configuration)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        path: String?,
        key: some KeyProvider = ProvidedKey.none,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        let writing = try configuration.ofWriter(path, flags)
        self.init(try await DatabaseQueue(path: path, key: key, configuration: writing, flags: flags), configuration)
    }
}

extension Configuration {
    /// That of the connection which writes.
    fileprivate func ofWriter(_ path: String?, _ flags: OpenFlags) throws -> Configuration {
        guard maximumReaders > 0 else { throw DatabaseError(.range, "a pool has at least one reader") }
        var configuration = self
        let isInMemory = ["", ":memory:"].contains(path ?? "")
        configuration.journalMode = flags.contains(.readWrite) && !isInMemory ? .wal : nil
        return configuration
    }
}
