internal import CipherDB
internal import CipherKeys
public import Foundation

/// FMDB's `FMDatabaseQueue`: one `FMDatabase` that threads use one after the other.
///
/// As in FMDB a queue that was closed opens its file again when it is used; with the key that was verified last. A block
/// that calls its own queue goes on at once with the same database, where FMDB would hang. Where the file cannot be opened
/// the block does not run. `DatabaseQueue` throws instead, and has async forms.
open class FMDatabaseQueue: FMDatabaseProvider, @unchecked Sendable {
    // Safe because `database` is touched by the block that has the turn only, and else has a lock.

    /// The path as it was given; nil for a database in memory.
    public let path: String?
    /// SQLite's flags.
    public let openFlags: Int32
    /// The name of SQLite's interface to the file system; nil for its default.
    public let vfsName: String?

    private let turns = TurnQueue(limit: nil)
    /// A forked child has none of the threads that would end the block before.
    private let owner = OwnerProcess()
    private let database: FMDatabase

    /// The class of its database, for subclasses to override.
    open class func databaseClass() -> AnyClass { FMDatabase.self }

    /// Opens the file, for reading and writing unless the flags say otherwise, and makes it where it does not exist; nil where that cannot be
    /// done.
    public init?(
        path: String?,
        flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        vfs: String? = nil
    ) {
        self.path = path
        openFlags = flags
        vfsName = vfs
        guard let database = FMDatabase.ofClass(Self.databaseClass(), path: path) else { return nil }
        self.database = database
        guard database.open(withFlags: flags, vfs: vfs) else { return nil }
        database.turn.share()
    }

    /// Opens the file, for reading and writing unless the flags say otherwise, and makes it where it does not exist; nil where that cannot be
    /// done.
    public convenience init?(
        url: URL?,
        flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        vfs: String? = nil
    ) {
        self.init(path: url?.decodedPath, flags: flags, vfs: vfs)
    }

    /// A queue of a database in memory. There is always one, but where a subclass names a class that is none.
    public convenience init() { self.init(path: nil)! }

    deinit {
        guard owner.isCurrent else { return }
        // Safe because nobody else has the queue.
        nonisolated(unsafe) let database = database.database
        SerialWorker.close { [turns] in turns.runWithoutLimit { database.closeInBlock() } }
    }

    /// Closes the database when the blocks before are done; the next block opens it again.
    open func close() {
        guard owner.isCurrent else { return }
        onQueue { database.close() }
    }

    /// Stops the statement that runs.
    open func interrupt() {
        database.interrupt()
    }

    /// Runs `block` with the database, when the blocks before it are done, and waits for it.
    open func inDatabase(_ block: (FMDatabase) -> Void) {
        onQueue {
            guard reopened() else { return }
            block(database)
            database.closeUnlessKeyed()
            database.access = database.database.verifiedKey ?? database.access
        }
    }

    private func onQueue(_ body: () -> Void) {
        guard owner.isCurrent else { return FMDatabase.log("\(UsedAfterFork.database)") }
        // A block that calls its queue again goes on at once.
        if database.turn.isMine { return body() }
        turns.runWithoutLimit {
            guard database.beginBlock() else { return }
            defer { database.turn.end() }
            body()
            // What a block leaves open would hold its locks.
            database.closeOpenResultSets()
        }
    }

    private func reopened() -> Bool {
        if database.isOpen {
            guard database.database.hasMoved else { return true }
            FMDatabase.log("\(path ?? ""): the file was removed or replaced; it is opened again")
            database.close()
        }
        guard database.open(withFlags: openFlags, vfs: vfsName) else { return false }
        guard let access = database.access else { return true }
        // Where the file was deleted: another key may be given by the block, or else a new one is under the queue's.
        if database.database.hasNewFile {
            database.database.keyOfNewFile = access
            return true
        }
        return database.attempt { try database.database.unlock(access) }
    }

    // MARK: Transactions

    /// Runs `block` in an exclusive transaction, which is rolled back when it sets its second argument.
    ///
    /// Inside of another transaction of the same database it is a savepoint. Where the transaction cannot be begun the block
    /// does not run.
    open func inTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        run(.exclusive, block)
    }

    /// As ``inTransaction(_:)``.
    open func inExclusiveTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        run(.exclusive, block)
    }

    /// As ``inTransaction(_:)``, with locks when they are needed.
    open func inDeferredTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        run(.deferred, block)
    }

    /// As ``inTransaction(_:)``, with the lock for writing only.
    open func inImmediateTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        run(.immediate, block)
    }

    /// Runs `block` in a savepoint, whose changes are undone when it sets its second argument. Returns what went wrong.
    @discardableResult open func inSavePoint(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) -> NSError?
    {
        var failure: NSError? = FMDatabase.error(
            DatabaseError(code: .cannotOpen, message: "the database cannot be opened")
        )
        inDatabase { database in failure = database.inSavePoint { block(database, $0) } }
        return failure
    }

    // MARK: The write-ahead log

    /// Copies pages from the write-ahead log, and says how many are in it and how many of them are in the file by now.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    open func checkpoint(
        _ mode: FMDBCheckpointMode,
        name: String? = nil,
        logFrameCount: UnsafeMutablePointer<Int32>? = nil,
        checkpointCount: UnsafeMutablePointer<Int32>? = nil
    ) throws {
        var result: Result<Void, any Error> = .failure(
            FMDatabase.error(DatabaseError(code: .cannotOpen, message: "the database cannot be opened"))
        )
        inDatabase { database in
            result = Result {
                try database.checkpoint(
                    mode,
                    name: name,
                    logFrameCount: logFrameCount,
                    checkpointCount: checkpointCount
                )
            }
        }
        try result.get()
    }
}
