internal import Dispatch

#if Logging
    public import Logging
#endif

/// The settings of a database, the same for each of its connections.
public struct Configuration: Sendable {
    /// The cipher format of the file.
    ///
    /// Nil stands for the engine's own: 4 with SQLCipher 4, 3 with SQLCipher 3; an existing file may then have any page
    /// size. Opening a file of another standard format throws `KeyError.otherFormat`, which says what to put here.
    /// With ``CipherFormat/any`` a file opens in whatever format it has; a wrong passphrase then takes nine derivations, not three.
    public var format: CipherFormat?

    /// PBKDF2 iterations that are tried besides those of the standard formats when the format of a file is searched for, as for
    /// ``CipherFormat/any``. Each takes three derivations.
    public var searchedIterations: [Int] = []

    /// Whether the error of a key names any format in which it is right, not the standard ones alone.
    package var searchesAllFormats = false

    /// Whether a file may be opened without a key, and a new one made that anyone can read. Off unless set.
    ///
    /// A database in memory needs no key and no permission.
    public var allowsPlaintext = false

    /// Whether old copies are accepted, such as those from a backup: a keyring that is older than the one with which the database was
    /// last used, and a database under a retired key. They then count as the newest. If another program altered the record by
    /// which the database detects old copies, the record is rewritten.
    public var acceptsOldCopies = false

    /// Whether SQL on a keyed connection may attach files, set the cipher and the place of temporary data, load code and write the
    /// schema. Then SQL can write the data to a plaintext file. It still cannot set keys.
    public var unsafeAllowsAllSQL = false

    /// Whether views and triggers may use what SQLite does not mark as innocuous: `snippet`, `bm25` and `MATCH` of full-text indexes
    /// in a view, pragma functions. Off unless set (`PRAGMA trusted_schema`, since SQLite 3.31), because the schema of a database from
    /// somebody else could use them. Functions of the program need `isInnocuous` either way.
    public var trustsSchema = false

    /// How long a statement waits for a lock that another connection holds. Five seconds unless set.
    public var busyTimeout: Duration = .seconds(5)

    /// The journal that a connection sets when it opens; nil leaves the file's own.
    public var journalMode: JournalMode?

    /// Whether foreign keys are enforced. On unless set, other than in SQLite.
    public var enforcesForeignKeys = true

    /// How dates, UUIDs, and dates and data inside of JSON are stored. A file that other programs use too may need other forms.
    public var storage = ValueStorage()

    /// The name of SQLite's interface to the file system (sqlite.org/vfs.html); nil for its default.
    public var vfs: String?

    /// The most bytes of decrypted pages that a connection keeps; 32 MiB unless set.
    ///
    /// SQLite's own default is 2 MB. A page that is not kept must be read and decrypted again, which is why random reads
    /// are about ten times faster with a cache that the data fits in.
    public var pageCacheSize = 32 << 20

    /// The most bytes of memory, beside ``pageCacheSize``, that the engine may take while a statement runs; 1 GiB unless set. Then the
    /// transaction is undone, and the statement throws ``DatabaseError`` with ``ResultCode/outOfMemory``.
    ///
    /// Sorts, new indexes, statement journals and temporary tables are in memory, because the engine would write them to files in plaintext. An
    /// index takes the bytes of its keys and about 100 for each row. The engine counts for the process: what its other connections take meanwhile
    /// is in it.
    public var statementMemoryLimit = 1 << 30

    /// The most statements that a connection keeps compiled; the one unused longest goes first.
    public var statementCacheCapacity = 100

    /// The most readers that a ``DatabasePool`` opens. Five unless set.
    public var maximumReaders = 5

    /// How long a block waits for a reader of a ``DatabasePool``, and a change of its key for the blocks that read, before it gets an error.
    /// Ten seconds unless set.
    public var readerWaitingLimit: Duration = .seconds(10)

    /// How long a block waits for its turn on the connection of a ``DatabaseQueue``, or on the one of a ``DatabasePool`` that writes, before
    /// it gets an error. One minute unless set.
    ///
    /// Longer than ``readerWaitingLimit``, as the blocks before it run one after the other. Waiting does not count while a change of key, a
    /// migration, `vacuum()`, `integrityCheck()` or `backup(to:)` has the connection, which take as long as the file is large. Closing has no
    /// limit.
    public var writerWaitingLimit: Duration = .seconds(60)

    /// Whether blocks of `write` and `inTransaction` that wait for each other share a commit, so that many of them wait for the disk once.
    /// They do unless set.
    ///
    /// Each block returns when its changes are on the disk, and one that throws undoes its own changes only. A block whose transaction
    /// SQLite rolls back as a whole, as by a full disk, `INSERT OR ROLLBACK` or `RAISE(ROLLBACK)`, takes those with it that wait for the
    /// same commit; they throw. Switch it off where that is no rare case, and where single blocks take long, because those before it wait.
    /// A block that waits for the thread of one before it waits for ever.
    public var sharesCommits = true

    /// Asked once for each new reader of a ``DatabasePool``, after ``prepareDatabase``; false, or an error, refuses it, and
    /// the block that needed it gets the error.
    public var shouldAddReader: (@Sendable (Database) throws -> Bool)?

    /// Called with each connection when it is open and keyed, before anything else uses it: for pragmas and functions. The key is an
    /// argument of the call that opens the database.
    /// What it throws fails the opening.
    public var prepareDatabase: (@Sendable (Database) throws -> Void)?

    #if Logging
        /// Where the database logs to; nil for nowhere. Paths and SQL are logged, values and keys never; statements at level `trace`.
        public var logger: Logger?
    #endif

    /// The defaults.
    public init() {}

    /// The defaults with what `change` sets.
    public init(_ change: (inout Configuration) -> Void) {
        change(&self)
    }
}

/// The journal mode of SQLite (sqlite.org/pragma.html#pragma_journal_mode).
public enum JournalMode: String, Sendable {
    /// A rollback journal, deleted at the end of each transaction.
    case delete
    /// A rollback journal, cut to no bytes.
    case truncate
    /// A rollback journal, its header overwritten.
    case persist
    /// A write-ahead log: readers and a writer do not wait for each other.
    case wal
}

extension Duration {
    /// Three weeks are the most that SQLite's 32 bits hold.
    var boundedMilliseconds: Int { Int(max(.zero, min(self, .seconds(2_000_000))) / .milliseconds(1)) }

    /// For Dispatch, which counts nanoseconds in 64 bits.
    var dispatched: DispatchTimeInterval {
        .milliseconds(Int(max(.zero, min(self, .seconds(1_000_000))) / .milliseconds(1)))
    }
}
