public import CipherKeys
internal import CipherSystem

extension DatabaseQueue {
    /// Opens the file with its key and verifies it. A passphrase is derived here, once for this queue.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key.
    ///   - key: The key, or the keyring that holds it; none only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: How every connection is opened.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: as ``Database/open(key:flags:)``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: some KeyProvider = ProvidedKey.none,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        self.init(try OpenedDatabase(path, key, configuration, flags), flags: flags)
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
        self.init(
            try await SerialWorker.once { try OpenedDatabase(path, key, configuration, flags) },
            flags: flags
        )
    }
}

/// A database that was opened for a queue, and whose commits are told.
struct OpenedDatabase {
    let database: Database
    let log = ChangeLog()

    /// Whatever of it waits for the file is done here, so that a task can do it on a thread that may block.
    fileprivate init(
        _ path: String?,
        _ key: some KeyProvider,
        _ configuration: Configuration,
        _ flags: OpenFlags
    ) throws {
        database = Database(path: path, configuration: configuration)
        try database.open(key: key, flags: flags)
        database.track(log)
    }
}
