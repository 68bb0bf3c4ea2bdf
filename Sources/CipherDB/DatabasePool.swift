public import CipherKeys

/// One connection that writes and several that read, over one file with a write-ahead log.
///
/// Readers do not wait for the writer nor the writer for them. Each reading block sees the database as it was when the
/// block first looked, however long it takes and whatever is written meanwhile. A passphrase is derived once, when the pool
/// opens; readers are opened when they are first needed, from the derived key.
///
/// ```swift
/// let pool = try DatabasePool(path: "vault.db", key: .passphrase("correct horse battery staple"))
/// try await pool.write { database in
///     try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
/// }
/// let count = try await pool.read { database in try database.int(forQuery: "SELECT count(*) FROM notes") }
/// ```
///
/// Blocks of one pool never wait for each other in a circle. A reading block inside of a writing one gets a reader, and
/// sees what was committed before; a reading block inside of a reading one goes on with the same reader and snapshot; a
/// writing block inside of any other throws at once.
public final class DatabasePool: Sendable {
    /// The path as it was given.
    public let path: String

    let writer: DatabaseQueue
    let readers: ReaderPool

    /// Opens the file with its key, verifies it, and sets its journal to the write-ahead log.
    ///
    /// - Parameters:
    ///   - path: The file; a database in memory has one connection only, and cannot be pooled.
    ///   - key: The key; nil only with ``Configuration/allowsPlaintext``.
    ///   - configuration: ``Configuration/maximumReaders`` and ``Configuration/readerWaitingLimit`` are the pool's.
    ///   - flags: For reading and writing, and made where it does not exist, unless set. For reading only, the journal stays
    ///     what it is, and writing throws.
    /// - Throws: ``KeyError``, ``DatabaseError``; no empty file is left behind that was not there.
    public convenience init(
        path: String,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        try self.init(path: path, configuration, flags) { configuration in
            try DatabaseQueue(path: path, key: key, configuration: configuration, flags: flags)
        }
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
        try self.init(path: path, configuration, flags) { configuration in
            try DatabaseQueue(
                path: path,
                keyring: keyring,
                unlockedBy: secret,
                slot: slot,
                configuration: configuration,
                flags: flags
            )
        }
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
        try self.init(path: path, configuration, flags) { configuration in
            try DatabaseQueue(path: path, keyring: keyring, configuration: configuration, flags: flags)
        }
    }

    private init(
        path: String,
        _ configuration: Configuration,
        _ flags: OpenFlags,
        _ openWriter: (Configuration) throws -> DatabaseQueue
    ) throws {
        guard !path.isEmpty, path != ":memory:" else {
            throw DatabaseError(.misuse, "a database in memory has one connection only; use a DatabaseQueue")
        }
        guard configuration.maximumReaders > 0 else {
            throw DatabaseError(.range, "a pool has at least one reader")
        }
        var configuration = configuration
        configuration.journalMode = flags.contains(.readWrite) ? .wal : nil
        let writer = try openWriter(configuration)
        let mayJoin = configuration.shouldAddReader
        readers = ReaderPool(
            maximum: configuration.maximumReaders,
            waitingLimit: configuration.readerWaitingLimit
        ) {
            let reader = try writer.openReader()
            guard try mayJoin?(reader) ?? true else {
                throw DatabaseError(.misuse, "Configuration.shouldAddReader refused a new reader")
            }
            return reader
        }
        self.path = path
        self.writer = writer
    }

    deinit {
        readers.close()
    }

    /// How many readers there are, idle or in use, how many are in use, and how many blocks wait for one.
    public var readerCounts: (open: Int, inUse: Int, waiting: Int) {
        let counts = readers.counts
        return (counts.idle + counts.lent, counts.lent, counts.waiting)
    }

    /// Closes the readers that are not in use, to save memory; others are opened when they are needed.
    public func releaseReaders() {
        readers.closeIdle()
    }

    /// Stops every statement that runs, which fails with ``ResultCode/interrupted``.
    public func interrupt() {
        writer.interrupt()
        readers.interruptAll()
    }

    /// Copies pages from the write-ahead log into the database file, as ``Database/checkpoint(_:name:)``.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where a reading block holds it up.
    @discardableResult public func checkpoint(
        _ mode: CheckpointMode = .passive
    ) throws -> (logFrameCount: Int, checkpointCount: Int) {
        try inDatabase { try $0.checkpoint(mode) }
    }

    /// Closes the pool: what waits for a reader gets an error, blocks that run come to their end, later calls throw.
    ///
    /// - Throws: ``DatabaseError`` when called from inside a block of this pool.
    public func close() throws {
        try checkNotReading()
        try writer.close()
        readers.close()
    }

    /// Throws inside of a reading block: there, waiting for the writer could be waiting for oneself.
    func checkNotReading() throws {
        guard readers.current == nil else {
            throw DatabaseError(
                .misuse,
                "a reading block of this pool called for its writer; write first, or after the block"
            )
        }
    }
}
