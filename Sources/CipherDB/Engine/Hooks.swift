internal import CSQLCipher
internal import CipherSystem

/// What a connection tells while it works. Each box is kept by the connection, because these callbacks have no destructor.
final class Hooks {
    var update: ((RowChange) -> Void)?
    var commit: (() -> Bool)?
    var rollback: (() -> Void)?
    var trace: ((TraceEvent) -> Void)?
    var busy: ((Int) -> Bool)?
    var authorizer: ((AuthorizerAction) -> AuthorizerDecision)?
    var tracker: ChangeTracker?
    // Safe because a connection takes itself out before it is gone. A weak reference would make each use of the connection
    // count references the slow way.
    /// The one that calls.
    fileprivate unowned(unsafe) var connection: Connection?

    /// Calls `body` with the hooks at `pointer`; closing their connection waits until it has returned.
    fileprivate static func call<Result>(
        _ pointer: UnsafeMutableRawPointer?,
        _ body: (Hooks) -> Result?
    ) -> Result? {
        guard let pointer else { return nil }
        let hooks = Unmanaged<Hooks>.fromOpaque(pointer).takeUnretainedValue()
        guard let connection = hooks.connection else { return body(hooks) }
        return connection.inCallback { body(hooks) }
    }
}

extension Connection {
    /// Tells of a commit, where there was one in the call of the engine that is over now.
    func reportCommit() {
        guard let tracker, tracker.isCommitting else { return }
        tracker.reportCommit(changes: totalChanges)
    }

    /// Whether a transaction may be committed; where not, the statement throws why. In WAL mode SQLite would commit into a log
    /// whose database is gone.
    fileprivate func mayCommit() -> Bool {
        do {
            try checkFile()
            return true
        } catch {
            callbackError = error
            return false
        }
    }

    /// Before the connection goes.
    func leaveHooks() {
        if hooks?.connection === self { hooks?.connection = nil }
    }

    /// Tells the engine which of the hooks are wanted.
    func install(_ hooks: Hooks) {
        self.hooks = hooks
        hooks.connection = self
        authorizer.user = hooks.authorizer.map { user in { [unowned self] action in inCallback { user(action) } } }
        if tracker == nil { hooks.tracker?.connected(changes: totalChanges) }
        tracker = hooks.tracker
        let pointer = Unmanaged.passUnretained(hooks).toOpaque()
        sqlite3_update_hook(
            handle,
            hooks.update == nil
                ? nil
                : { pointer, action, schema, table, row in
                    guard let schema, let table else { return }
                    let kind: RowChange.Kind =
                        switch action {
                        case SQLITE_INSERT: .insert
                        case SQLITE_DELETE: .delete
                        default: .update
                        }
                    let change = RowChange(
                        kind: kind,
                        schema: String(cString: schema),
                        table: String(cString: table),
                        rowID: row
                    )
                    Hooks.call(pointer) { $0.update?(change) }
                },
            pointer
        )
        sqlite3_commit_hook(
            handle,
            { pointer in
                let mayCommit = Hooks.call(pointer) { hooks in
                    guard hooks.connection?.mayCommit() != false, hooks.commit?() != false else { return false }
                    hooks.tracker?.willCommit()
                    return true
                }
                return mayCommit == false ? 1 : 0
            },
            pointer
        )
        sqlite3_rollback_hook(
            handle,
            hooks.rollback == nil && tracker == nil
                ? nil
                : { pointer in
                    Hooks.call(pointer) { hooks in
                        hooks.tracker?.didRollBack()
                        hooks.rollback?()
                    }
                },
            pointer
        )
        sqlite3_trace_v2(
            handle,
            hooks.trace == nil ? 0 : UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE),
            hooks.trace == nil ? nil : tell,
            pointer
        )
    }
}

extension Connection {
    /// Runs `body`, whose statements ask `mayTryAgain` while a lock of another connection is in the way. The busy handling of
    /// before is not put back.
    func waiting<Result>(_ mayTryAgain: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
        try withoutActuallyEscaping(mayTryAgain) { mayTryAgain in
            var ask = mayTryAgain
            return try withUnsafeMutablePointer(to: &ask) { pointer in
                sqlite3_busy_handler(
                    handle,
                    { pointer, _ in pointer?.assumingMemoryBound(to: (() -> Bool).self).pointee() == true ? 1 : 0 },
                    pointer
                )
                defer { sqlite3_busy_timeout(handle, 0) }
                return try body()
            }
        }
    }
}

/// The SQL comes from the statement, without its values: the text that the engine hands over may have them in it.
private func tell(
    kind: UInt32,
    hooks: UnsafeMutableRawPointer?,
    statement: UnsafeMutableRawPointer?,
    detail: UnsafeMutableRawPointer?
) -> Int32 {
    guard let text = sqlite3_sql(OpaquePointer(statement)) else { return 0 }
    var sql = String(cString: text)
    if sql.hasPrefix(DamageWatch.mark) { return 0 }
    if DatabaseError.mayHoldKey(sql) { sql = DatabaseError.hiddenSQL }
    if kind == UInt32(SQLITE_TRACE_STMT) {
        // A trigger's part of the statement comes as a comment; the statement itself was told before.
        let shown = detail.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
        if shown?.hasPrefix("--") != true { Hooks.call(hooks) { $0.trace?(.began(sql: sql)) } }
    } else if let nanoseconds = detail?.load(as: Int64.self) {
        Hooks.call(hooks) { $0.trace?(.ended(sql: sql, duration: .nanoseconds(nanoseconds))) }
    }
    return 0
}

/// How a connection waits for the locks of others: as the program's handler says, or as long as its operation may wait in all, where
/// there is one, else for each lock again.
final class LockWaiting {
    private let limit: Duration
    private let handler: ((_ attempts: Int) -> Bool)?
    private let operation: LockWait?
    private let progress: StatementProgress
    private var wait: LockWait
    private var requests = 0
    private var end = End.none

    private enum End {
        case none, time, handler, interruption
    }

    init(limit: Duration, _ handler: ((_ attempts: Int) -> Bool)?, _ progress: StatementProgress) {
        self.limit = limit
        self.handler = handler
        self.progress = progress
        operation = limit > .zero ? LockWait.current : nil
        wait = operation ?? LockWait(limit: limit)
    }

    /// Waits a few milliseconds, or asks the handler; returns false, without either, when the time is used up, or the connection was
    /// interrupted.
    func mayTryAgain(after attempts: Int) -> Bool {
        if attempts == 0 {
            wait = operation ?? LockWait(limit: limit)
            requests = progress.interrupter.requests
        }
        if progress.stopsWait(since: requests) {
            end = .interruption
        } else if let handler {
            end = handler(attempts) ? .none : .handler
        } else {
            end = wait.mayTryAgain() ? .none : .time
        }
        return end == .none
    }

    /// How long the last lock was waited for that was not had, once; nil where the engine did not ask to wait.
    func takeWaited() -> Duration? {
        defer { end = .none }
        return end == .time ? wait.waited : nil
    }

    /// Whether the last wait was interrupted; once.
    func takeInterruption() -> Bool {
        guard end == .interruption else { return false }
        end = .none
        return true
    }
}
