public import CipherKeys
internal import CipherSystem

extension DatabaseQueue {
    /// Opens the file with its key and verifies it. A passphrase is derived here, once for this queue.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `:memory:` for a database in memory, which takes no key.
    ///   - key: The key; nil only for a database in memory, or with ``Configuration/allowsPlaintext``.
    ///   - configuration: How every connection is opened.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: ``KeyError``, ``DatabaseError``; no empty file is left behind that was not there.
    public convenience init(
        path: String?,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        self.init(try OpenedDatabase(path, configuration) { try $0.open(key, flags) }, flags: flags)
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
        let database = try await SerialWorker.once {
            try OpenedDatabase(path, configuration) { try $0.open(key, flags) }
        }
        self.init(database, flags: flags)
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
        let database = try OpenedDatabase(path, configuration) {
            try $0.open(keyring: keyring, unlockedBy: secret, slot: slot, flags: flags)
        }
        self.init(database, flags: flags)
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
        let database = try await SerialWorker.once {
            try OpenedDatabase(path, configuration) {
                try $0.open(keyring: keyring, unlockedBy: secret, slot: slot, flags: flags)
            }
        }
        self.init(database, flags: flags)
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
        let database = try OpenedDatabase(path, configuration) {
            try $0.open(keyring: keyring, flags: flags)
        }
        self.init(database, flags: flags)
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
        let database = try await SerialWorker.once {
            try OpenedDatabase(path, configuration) {
                try $0.open(keyring: keyring, flags: flags)
            }
        }
        self.init(database, flags: flags)
    }
}

/// A database that was opened for a queue, and whose commits are told.
struct OpenedDatabase {
    let database: Database
    let log = ChangeLog()

    /// Whatever of it waits for the file is done here, so that a task can do it on a thread that may block.
    fileprivate init(
        _ path: String?,
        _ configuration: Configuration,
        _ open: (Database) throws -> Void
    ) throws {
        database = Database(path: path, configuration: configuration)
        try open(database)
        database.track(log)
    }
}

extension Database {
    /// Opens it with its key, and verifies that; without one it must be usable in plaintext.
    fileprivate func open(_ key: DatabaseKey?, _ flags: OpenFlags) throws {
        try open(flags: flags)
        if let key {
            try setKey(key)
        } else {
            _ = try usableConnection()
        }
    }
}
