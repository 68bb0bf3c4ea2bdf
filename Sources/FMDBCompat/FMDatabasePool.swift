internal import CipherDB
internal import CipherSystem
public import Foundation

/// What a pool asks and tells about its databases.
public protocol FMDatabasePoolDelegate: AnyObject {
    /// Whether a new database may join; asked once for each, and outside of the pool's locks.
    func databasePool(_ pool: FMDatabasePool, shouldAddDatabaseToPool database: FMDatabase) -> Bool
    /// A new database joined: the place for `setKey`.
    func databasePool(_ pool: FMDatabasePool, didAdd database: FMDatabase)
}

extension FMDatabasePoolDelegate {
    /// Every database may join.
    public func databasePool(_ pool: FMDatabasePool, shouldAddDatabaseToPool database: FMDatabase) -> Bool { true }
    /// Does nothing.
    public func databasePool(_ pool: FMDatabasePool, didAdd database: FMDatabase) {}
}

/// FMDB's `FMDatabasePool`: several databases of one file, each of which may read and write.
///
/// As in FMDB two of them that write in rollback mode wait for each other's locks, and one of them may find the database
/// busy. `DatabasePool` has one writer and cannot.
open class FMDatabasePool: FMDatabaseProvider, @unchecked Sendable {
    // Safe because a database is either idle, under the lock, or checked out by one block, whose turn it is.

    /// The path as it was given.
    public let path: String?
    /// SQLite's flags.
    public let openFlags: Int32
    /// The name of SQLite's interface to the file system; nil for its default.
    public let vfsName: String?
    /// Asked and told about new databases; not kept alive. Set it before the first block.
    public weak var delegate: (any FMDatabasePoolDelegate)?

    private struct State {
        var idle: [FMDatabase] = []
        /// By the thread that checked each out.
        var checkedOut: [(thread: Thread, database: FMDatabase?)] = []
        var maximum: UInt = 0
        /// Those checked out before it are closed when they are released.
        var generation = 0
        var requiresKey = false
    }

    private let condition = NSCondition()
    /// A forked child has none of the threads that would release the lock or a database.
    private let owner = OwnerProcess()
    private var state = State()

    /// The class of its databases, for subclasses to override.
    open class func databaseClass() -> AnyClass { FMDatabase.self }

    /// A pool that reads and writes, and makes the file where it does not exist, unless the flags say otherwise; nothing is opened yet.
    public init(
        path: String?,
        flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        vfs: String? = nil
    ) {
        self.path = path
        openFlags = flags
        vfsName = vfs
    }

    /// A pool that reads and writes, and makes the file where it does not exist, unless the flags say otherwise; nothing is opened yet.
    public convenience init(
        url: URL?,
        flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        vfs: String? = nil
    ) {
        self.init(path: url?.decodedPath, flags: flags, vfs: vfs)
    }

    deinit {
        // Safe because nobody else has the pool.
        nonisolated(unsafe) let idle = state.idle.map(\.database)
        SerialWorker.close { for database in idle { database.closeInBlock() } }
    }

    /// The most databases; 0, as unless set, for any number.
    public var maximumNumberOfDatabasesToCreate: UInt {
        get { locked { $0.maximum } }
        set { locked { $0.maximum = newValue } }
    }

    /// How many databases are idle.
    public var countOfCheckedInDatabases: UInt { locked { UInt($0.idle.count) } }

    /// How many databases are in use.
    public var countOfCheckedOutDatabases: UInt { locked { UInt($0.checkedOut.count) } }

    /// How many databases there are.
    public var countOfOpenDatabases: UInt { locked { UInt($0.idle.count + $0.checkedOut.count) } }

    /// Closes the idle databases, and those in use when they come back.
    open func releaseAllDatabases() {
        let idle = locked { state in
            defer { state.idle = [] }
            state.generation += 1
            return state.idle
        }
        for database in idle { closeReleased(database) }
    }

    private func locked<Result>(_ body: (inout State) -> Result) -> Result {
        guard owner.isCurrent else { return body(&state) }
        condition.lock()
        defer { condition.unlock() }
        return body(&state)
    }

    // MARK: Blocks

    /// Runs `block` with a database, on this thread. A block inside of a block gets another database.
    ///
    /// Where all are in use it waits for one, ten seconds at most, and not at all where this thread has them all: then, and
    /// where none can be opened, the block does not run.
    open func inDatabase(_ block: (FMDatabase) -> Void) {
        _ = run(block)
    }

    /// True where the block ran.
    private func run(_ block: (FMDatabase) -> Void) -> Bool {
        guard let (database, generation) = checkOut() else { return false }
        block(database)
        checkIn(database, generation)
        return true
    }

    /// Closes one that no block has.
    private func closeReleased(_ database: FMDatabase) {
        guard database.beginBlock() else { return }
        database.close()
        database.turn.end()
    }

    /// A database, whose turn is the calling thread's until ``checkIn(_:_:)``.
    private func checkOut() -> (FMDatabase, generation: Int)? {
        guard owner.isCurrent else {
            FMDatabase.log("\(UsedAfterFork.database)")
            return nil
        }
        let thread = Thread.current
        let deadline = Date(timeIntervalSinceNow: 10)
        condition.lock()
        while state.idle.isEmpty, state.maximum > 0, state.checkedOut.count >= state.maximum {
            let isMine = state.checkedOut.allSatisfy { $0.thread === thread }
            guard !isMine, condition.wait(until: deadline) else {
                condition.unlock()
                FMDatabase.log("all databases of the pool are in use")
                return nil
            }
        }
        let generation = state.generation
        // One whose file was removed or replaced would write into a file without a name.
        var stale: [FMDatabase] = []
        var idle: FMDatabase?
        while idle == nil, let last = state.idle.popLast() {
            guard last.beginBlock() else { continue }
            if last.database.hasMoved { stale.append(last) } else { idle = last }
        }
        state.checkedOut.append((thread, idle))
        condition.unlock()
        for database in stale {
            FMDatabase.log("\(path ?? ""): the file was removed or replaced; it is opened again")
            database.close()
            database.turn.end()
        }
        if let idle { return (idle, generation) }
        guard let database = FMDatabase.ofClass(Self.databaseClass(), path: path) else { return nil }
        database.requiresKey = locked { $0.requiresKey }
        guard database.open(withFlags: openFlags, vfs: vfsName),
            delegate?.databasePool(self, shouldAddDatabaseToPool: database) ?? true
        else {
            database.close()
            remove(nil, thread)
            return nil
        }
        locked { state in
            guard let place = state.checkedOut.firstIndex(where: { $0.thread === thread && $0.database == nil }) else {
                return
            }
            state.checkedOut[place].database = database
        }
        delegate?.databasePool(self, didAdd: database)
        noteKey(database)
        database.turn.share()
        guard database.beginBlock() else { return nil }
        return (database, generation)
    }

    private func checkIn(_ database: FMDatabase, _ generation: Int) {
        database.closeOpenResultSets()
        if database.isInTransaction { database.rollback() }
        noteKey(database)
        let stays = remove(database, Thread.current) { state in
            guard state.generation == generation, database.isOpen else { return false }
            // Before another thread finds it there.
            database.turn.end()
            state.idle.append(database)
            return true
        }
        guard !stays else { return }
        database.close()
        database.turn.end()
    }

    /// Once a key was given to one database of the pool, none is opened without.
    private func noteKey(_ database: FMDatabase) {
        database.closeUnlessKeyed()
        if database.requiresKey { locked { $0.requiresKey = true } }
    }

    /// Takes it off the list, after `body`, so that waiting callers find what `body` put back.
    @discardableResult private func remove(
        _ database: FMDatabase?,
        _ thread: Thread,
        _ body: (inout State) -> Bool = { _ in false }
    ) -> Bool {
        locked { state in
            defer { condition.signal() }
            let result = body(&state)
            if let place = state.checkedOut.firstIndex(where: { $0.thread === thread && $0.database === database }) {
                state.checkedOut.remove(at: place)
            }
            return result
        }
    }

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

    /// Runs `block` in a savepoint, whose changes are undone when it sets its second argument. Returns what went wrong, also
    /// where the block could not run.
    @discardableResult open func inSavePoint(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) -> NSError?
    {
        var failure: NSError?
        let ran = run { database in failure = database.inSavePoint { block(database, $0) } }
        return ran
            ? failure
            : FMDatabase.error(DatabaseError(code: .cannotOpen, message: "no database of the pool can be had"))
    }
}
