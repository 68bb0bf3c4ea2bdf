internal import CipherSystem
internal import Dispatch

/// The transaction that the blocks of a queue share while others wait for their turn, so that all wait for the disk once.
///
/// Each block is a savepoint of its own, but for the first, and returns when the commit has returned (``SharedCommit``). Nobody waits for
/// a block that is not there yet: the last one that has nobody behind it commits.
// Sendable because only the block that has the queue's turn uses it, see `DatabaseQueue.runBlock`.
final class SharedCommits: @unchecked Sendable {
    /// How many blocks share a commit at most.
    static let maximumBlocks = 128
    /// Of each block but the first: no two are open at once, and a name of its own would be compiled each time.
    static let savePoint = "cipherdb_shared"
    private static let startSavePoint: SQL = "SAVEPOINT cipherdb_shared"
    private static let releaseSavePoint: SQL = "RELEASE SAVEPOINT cipherdb_shared"
    /// How long other processes' writers wait for the lock, beyond the block that runs.
    var longest: Duration = .milliseconds(10)

    /// A transaction that is open between blocks.
    private struct Open {
        let commit = SharedCommit()
        let connection: Connection
        /// Those of the connection's tracker when it was left open.
        let rollbacks: Int?
        let since: DispatchTime
        var blocks = 1

        init(_ connection: Connection, since: DispatchTime) {
            self.connection = connection
            rollbacks = connection.tracker?.rollbacks
            self.since = since
        }
    }

    private let database: Database
    private let turns: TurnQueue
    /// Whether blocks share at all; else each commits at its end.
    private let isOn: Bool
    private var open: Open? {
        didSet {
            guard (open == nil) != (oldValue == nil) else { return }
            // A sign of SQLite's would stay in force, and undo what the blocks before wait to see committed.
            (open ?? oldValue)?.connection.interrupter.goes(open == nil ? .engine : .handler)
            if open == nil { turns.rest = nil } else { turns.rest = { [self] in try? commit() } }
        }
    }
    private var began = DispatchTime.now()
    /// What the block that is over has to wait for.
    private var last: SharedCommit?

    init(_ database: Database, _ turns: TurnQueue, isOn: Bool) {
        self.database = database
        self.turns = turns
        self.isOn = isOn
    }

    var isOpen: Bool { open != nil }

    /// Begins the transaction of a block.
    ///
    /// - Returns: Whether it is ``savePoint`` in the transaction of the blocks before it; else the transaction is its own.
    func begin() throws -> Bool {
        guard open != nil else {
            database.connection?.authorizer.defersForeignKeys = false
            database.connection?.mayHaveSavePoint = false
            database.connection?.interrupter.forgetInterruption()
            try database.beginTransaction(.immediate)
            began = .now()
            return false
        }
        try database.usableConnection().uninterrupted { try database.executeUpdate(SharedCommits.startSavePoint) }
        return true
    }

    /// Ends the transaction of a block that succeeded: commits, or leaves that to a block that waits.
    ///
    /// - Parameters:
    ///   - isSavePoint: What ``begin()`` returned.
    ///   - isLast: Whether the block must not wait for another one's commit.
    func end(savePoint isSavePoint: Bool, isLast: Bool) throws {
        let connection = try database.usableConnection()
        let isUnresolved = connection.hasUnresolvedForeignKeys
        if isSavePoint {
            // As the commit of its own would say.
            guard !isUnresolved else { throw DatabaseError(.constraintForeignKey, "FOREIGN KEY constraint failed") }
            try connection.uninterrupted { try database.executeUpdate(SharedCommits.releaseSavePoint) }
            // With those that are inside.
            connection.mayHaveSavePoint = false
        }
        // Its own commit would fail in another transaction than it began, and say so of a statement that still writes.
        let isWhole = connection.isInTransaction && connection.activeStatements == 0
        let isLast = isLast || isUnresolved || !isOn || !isWhole || turns.waiting == 0 || !database.mayShareCommit
        guard open != nil else {
            if isLast { return try database.commit() }
            open = Open(connection, since: began)
            if connection.interrupter.wasInterrupted { return try commit() }
            last = open?.commit
            return
        }
        open?.blocks += 1
        if isLast { return try commit() }
        last = open?.commit
    }

    /// What the block that is over has to wait for; nil where its own commit is done, or it has none.
    private func takeLast() -> SharedCommit? {
        defer { last = nil }
        return last
    }

    /// Commits what blocks left; each of them learns how that ended.
    ///
    /// - Throws: what they learn.
    func commit() throws {
        let isMine = database.turn.isMine
        if !isMine { try database.turn.begin() }
        defer { if !isMine { database.turn.end() } }
        noticeEnd()
        guard let open else { return }
        self.open = nil
        do {
            try open.connection.uninterrupted { try database.commit() }
            open.commit.end(.success(()))
        } catch {
            database.abandonTransaction()
            open.commit.end(.failure(error))
            throw error
        }
    }

    /// After a block.
    ///
    /// - Parameter failure: What it threw.
    /// - Returns: What it has to wait for: the commit of its own changes, or of those that it has seen; nil where it ended that itself.
    func blockEnded(_ failure: (any Error)?) -> SharedCommit? {
        let seen = takeLast() ?? open?.commit
        guard !noticeEnd(failure) else { return nil }
        guard let open else { return seen }
        let isFull = open.blocks >= SharedCommits.maximumBlocks || .now() >= open.since + longest.dispatched
        // A block that was undone leaves the setting, which lasts until the commit.
        if isFull || open.connection.authorizer.defersForeignKeys { try? commit() }
        return seen
    }

    /// Tells the blocks before how it ended, where a block ended the transaction that they left.
    ///
    /// - Returns: Whether one did.
    @discardableResult
    private func noticeEnd(_ cause: (any Error)? = nil) -> Bool {
        guard let open else { return false }
        let isSame = database.connection === open.connection
        guard !isSame || !open.connection.isInTransaction else { return false }
        self.open = nil
        let tracker = open.connection.tracker
        let isCommitted = isSame && tracker?.rollbacks == open.rollbacks
        let failure = DatabaseError.sharedTransactionEnded(cause, mayBeStored: isSame && tracker?.mayBeStored == true)
        open.commit.end(isCommitted ? .success(()) : .failure(failure))
        return true
    }
}

extension Database {
    /// Whether another block may run before the commit: no hook is told of it or asked for a savepoint, and no setting lasts until then, nor
    /// a savepoint that the other one could go back to.
    fileprivate var mayShareCommit: Bool {
        hooks.commit == nil && hooks.rollback == nil && hooks.authorizer == nil
            && connection?.authorizer.defersForeignKeys == false && connection?.mayHaveSavePoint == false
    }
}

/// The end of a transaction that blocks share, for which each of them waits.
final class SharedCommit: Sendable {
    typealias Outcome = Result<Void, any Error>

    private enum State {
        case open(waiting: [@Sendable (Outcome) -> Void])
        case over(Outcome)
    }

    private let state = Lock(State.open(waiting: []))

    func end(_ outcome: Outcome) {
        let waiting = state.withLock { state -> [@Sendable (Outcome) -> Void] in
            guard case .open(let waiting) = state else { return [] }
            state = .over(outcome)
            return waiting
        }
        for tell in waiting { tell(outcome) }
    }

    private func tell(_ tell: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state -> Outcome? in
            switch state {
            case .over(let outcome): return outcome
            case .open(let waiting):
                state = .open(waiting: waiting + [tell])
                return nil
            }
        }
        if let outcome { tell(outcome) }
    }

    /// Blocks the thread until it is over.
    ///
    /// - Throws: why nothing was committed.
    func wait() throws {
        let waiter = Waiter<Outcome>()
        tell { waiter.set($0) }
        try waiter.wait()?.get()
    }

    /// How it ended, without blocking a thread.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in tell { continuation.resume(returning: $0) } }
    }
}
