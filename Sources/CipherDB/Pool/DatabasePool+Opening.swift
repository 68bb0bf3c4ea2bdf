public import CipherKeys

extension DatabasePool {
    /// Opens the file with its key, verifies it, and sets its journal to the write-ahead log.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key. Such a pool has one connection:
    ///     its blocks run one at a time, and a reading block inside of a writing one throws.
    ///   - key: The key; nil only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: ``Configuration/maximumReaders`` and ``Configuration/readerWaitingLimit`` are the pool's.
    ///   - flags: For reading and writing, and made where it does not exist, unless set. For reading only, the journal stays
    ///     what it is, and writing throws.
    /// - Throws: ``KeyError``, ``DatabaseError``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let writing = try configuration.ofWriter(path, flags)
        let writer = try DatabaseQueue(path: path, key: key, configuration: writing, flags: flags)
        self.init(writer, configuration)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        path: String?,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        let writing = try configuration.ofWriter(path, flags)
        let writer = try await DatabaseQueue(path: path, key: key, configuration: writing, flags: flags)
        self.init(writer, configuration)
    }

    /// Opens the file with the key that a keyring holds; see ``Database/open(keyring:unlockedBy:slot:flags:)``.
    ///
    /// - Throws: ``KeyringError``, ``KeyError``, ``DatabaseError``.
    public convenience init(
        path: String,
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let writing = try configuration.ofWriter(path, flags)
        let writer = try DatabaseQueue(
            path: path,
            keyring: keyring,
            unlockedBy: secret,
            slot: slot,
            configuration: writing,
            flags: flags
        )
        self.init(writer, configuration)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        path: String,
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        let writing = try configuration.ofWriter(path, flags)
        let writer = try await DatabaseQueue(
            path: path,
            keyring: keyring,
            unlockedBy: secret,
            slot: slot,
            configuration: writing,
            flags: flags
        )
        self.init(writer, configuration)
    }

    /// Opens the file with the key that an unlocked keyring holds; see ``Database/open(keyring:unlockedBy:slot:flags:)``.
    ///
    /// - Throws: ``KeyringError``, ``KeyError``, ``DatabaseError``.
    public convenience init(
        path: String,
        keyring: UnlockedKeyring,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let writing = try configuration.ofWriter(path, flags)
        let writer = try DatabaseQueue(path: path, keyring: keyring, configuration: writing, flags: flags)
        self.init(writer, configuration)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        path: String,
        keyring: UnlockedKeyring,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        let writing = try configuration.ofWriter(path, flags)
        let writer = try await DatabaseQueue(path: path, keyring: keyring, configuration: writing, flags: flags)
        self.init(writer, configuration)
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
