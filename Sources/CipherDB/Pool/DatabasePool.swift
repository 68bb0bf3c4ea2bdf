internal import CipherSystem

/// One connection that writes and several that read one file, in WAL mode.
///
/// Readers do not wait for the writer nor the writer for them. Each reading block sees the database as it was when the
/// block first looked, however long it takes and whatever is written meanwhile. A passphrase is derived once, when the pool
/// opens; readers are opened when they are first needed, from the derived key.
///
/// ```swift
/// let pool = try await DatabasePool(path: "vault.db", key: .passphrase("correct horse battery staple"))
/// try await pool.write { database in
///     try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
/// }
/// let count = try await pool.read { database in try database.int(forQuery: "SELECT count(*) FROM notes") }
/// ```
///
/// Blocks of one pool never wait for each other in a circle. A reading block inside of a writing one gets a reader, and
/// sees what was committed before; a reading block inside of a reading one goes on with the same reader and snapshot; a
/// writing block inside of any other throws at once.
public final class DatabasePool: DatabaseWriter {
    /// The path as it was given; nil for a database in memory.
    public var path: String? { writer.path }

    let writer: DatabaseQueue
    let readers: ReaderPool

    /// Opens readers with the key of `writer`.
    ///
    /// - Parameter configuration: As it was given for the pool.
    init(_ writer: DatabaseQueue, _ configuration: Configuration) {
        let mayJoin = configuration.shouldAddReader
        readers = ReaderPool(
            maximum: configuration.maximumReaders,
            waitingLimit: configuration.readerWaitingLimit,
            overdue: { [instruments = writer.instruments] in instruments.failed($0.code, $0.message) }
        ) {
            let reader = try writer.openReader()
            guard try mayJoin?(reader) ?? true else {
                throw DatabaseError(.misuse, "Configuration.shouldAddReader refused a new reader")
            }
            return reader
        }
        self.writer = writer
    }

    deinit {
        guard isOwn else { return }
        // The writer at last, so that one of them copies the write-ahead log.
        SerialWorker.close { [readers, writer] in
            withExtendedLifetime(writer) { readers.close() }
        }
    }

    /// False in a forked child, which has none of the threads that would release what it waits for.
    private var isOwn: Bool { writer.owner.isCurrent }

    /// How many readers there are, idle or in use, how many are in use, and how many blocks wait for one; none in a child of the process
    /// that opened the pool.
    public var readerCounts: (open: Int, inUse: Int, waiting: Int) {
        guard isOwn else { return (0, 0, 0) }
        let counts = readers.counts
        return (counts.idle + counts.checkedOut, counts.checkedOut, counts.waiting)
    }

    /// Closes the readers that are not in use, to save memory; others are opened when they are needed.
    public func releaseReaders() {
        guard isOwn else { return }
        readers.closeIdle()
    }

    /// Stops every statement that runs, which fails with ``ResultCode/interrupted``.
    public func interrupt() {
        guard isOwn else { return }
        writer.interrupt()
        readers.interruptAll()
    }

    /// Closes the pool: what waits for a reader gets an error, blocks that run come to their end, later calls throw. Closing
    /// twice does nothing. In a child of the process that opened it nothing is closed.
    ///
    /// - Throws: ``DatabaseError`` when called from inside a block of this pool.
    public func close() throws {
        guard isOwn else { return }
        try checkNotReading()
        try writer.close { [readers] in readers.close() }
    }

    /// Asynchronous version; does not block the calling thread.
    public func close() async throws {
        guard isOwn else { return }
        try await writer.close { [readers] in readers.close() }
    }

    /// Throws inside of a reading block: there, waiting for the writer could be waiting for oneself.
    func checkNotReading() throws {
        try writer.owner.check(.database)
        guard readers.current == nil else {
            throw DatabaseError(
                .misuse,
                "a reading block of this pool called the writer; write before or after the block"
            )
        }
    }
}
