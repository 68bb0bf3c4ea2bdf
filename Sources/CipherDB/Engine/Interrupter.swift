internal import CSQLCipher
internal import CipherKeys
internal import CipherSystem

/// Interrupts the statements of a connection, from any thread.
///
/// The statements that run at that moment fail with ``ResultCode/interrupted``; nothing happens where none does, or
/// after the connection was closed.
public final class Interrupter: Sendable {
    private struct State {
        /// That of the handle while it is open: a pointer could not leave its thread.
        var address: UInt = 0
        /// How many calls run that nothing interrupts, one inside of the other.
        var undoing = 0
        /// How many statements write whose end by the engine would undo what others wait to see committed.
        var sparing = 0
        var way = Way.engine
        /// Whether the engine was told since ``forgetInterruption()``.
        var wasInterrupted = false
        /// How many interruptions were asked for.
        var requests = 0
    }
    private let state = Lock(State())
    /// Since when the statement began, by ``Way/handler``.
    private let isAsked = Atomic(false)
    /// A forked child has none of the threads that would release the lock, and runs no statement.
    private let owner = OwnerProcess()

    init() {}

    /// Interrupts the connection.
    public func interrupt() { interrupt(sparing: true) }

    /// - Parameter others: Whether the blocks that share a transaction with the one that runs keep it.
    func interrupt(sparing others: Bool) {
        guard owner.isCurrent else { return }
        state.withLock { state in
            guard state.undoing == 0, let handle = OpaquePointer(bitPattern: state.address) else { return }
            state.requests &+= 1
            switch others ? state.way : .engine {
            case .handler: isAsked.store(true, ordering: .relaxed)
            case .engine:
                state.wasInterrupted = true
                sqlite3_interrupt(handle)
            }
        }
    }

    /// Runs a statement that writes in a transaction that others share.
    ///
    /// - Returns: Also whether it is to be undone, because it was to be interrupted.
    func sparing<Result>(_ body: () -> Result) -> (result: Result, isInterrupted: Bool) {
        state.withLock { $0.sparing += 1 }
        let result = body()
        state.withLock { $0.sparing -= 1 }
        return (result, isAsked.load(ordering: .relaxed))
    }

    /// How an interruption reaches a statement.
    enum Way {
        /// Through SQLite, where it stays in force as long as any statement is active, and undoes the transaction of one that writes.
        case engine
        /// Through the progress handler, which stops the statement that runs, and none that writes (``Connection/uninterrupted(_:)``).
        case handler
    }

    /// That of the transaction that blocks share is the handler, while others wait for its commit.
    func goes(_ way: Way) {
        state.withLock { $0.way = way }
    }

    /// Whether an interruption may be in force still.
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

    func forgetInterruption() {
        state.withLock { $0.wasInterrupted = false }
    }

    /// Whether the handler is to stop the statement.
    fileprivate var stopsStatement: Bool {
        isAsked.load(ordering: .relaxed) && state.withLock { $0.undoing == 0 && $0.sparing == 0 }
    }

    var requests: Int { state.withLock { $0.requests } }

    /// Whether a wait for the lock of others ends, because another interruption was asked for since, or the task is cancelled.
    fileprivate func stopsWait(since requests: Int, isCancelled: Bool) -> Bool {
        state.withLock { $0.undoing == 0 && $0.sparing == 0 && (isCancelled || $0.requests != requests) }
    }

    fileprivate func forgetRequest() {
        if isAsked.load(ordering: .relaxed) { isAsked.store(false, ordering: .relaxed) }
    }

    /// Runs what undoes a change or a setting, and is not interrupted.
    func undoing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.withLock { $0.undoing += 1 }
        defer { state.withLock { $0.undoing -= 1 } }
        return try body()
    }

    func attach(_ connection: OpaquePointer) {
        let address = UInt(bitPattern: connection)
        state.withLock { $0.address = address }
    }

    func detach() {
        state.withLock { $0.address = 0 }
    }
}

/// What ends a statement before it is done: the cancellation of its task, a check of the library's own, the memory that it takes.
///
/// Memory has a limit because sorts, statement journals and temporary tables stay there: the engine would write them to files in plaintext.
final class StatementProgress {
    /// Of the task that uses the connection; nil where none does.
    var cancellation: TaskCancellation?
    var interrupter: Interrupter {
        didSet { uncountedInterrupter = .passUnretained(interrupter) }
    }
    /// The same, for each statement to ask without counting a reference. Safe because both are set together.
    private var uncountedInterrupter: Unmanaged<Interrupter>
    /// The most bytes that the engine may take while a statement runs, for all connections of the process; nil for no limit.
    var memoryLimit: Int64?
    /// Asked too, where it is set: each hundredth time, which is several times a second.
    private var isOver: (() -> Bool)?
    private var times = 0
    /// What the engine had when the statement began; nil before it is asked for the first time.
    // For each `@exclusivity(unchecked)`: the ``Turn`` of the connection keeps other threads out, and it is read and written at once.
    @exclusivity(unchecked) private var memoryBefore: Int64?
    @exclusivity(unchecked) private var isOverLimit = false
    /// Whether a statement took so much memory that it is to be given back to the system when the connection is closed.
    @exclusivity(unchecked) private(set) var hasTakenMuch = false
    private static let much: Int64 = 16 << 20

    init() {
        interrupter = Interrupter()
        uncountedInterrupter = .passUnretained(interrupter)
    }

    /// Has the engine ask every 1000 of its instructions, which take a fraction of a millisecond.
    func install(on handle: OpaquePointer) {
        sqlite3_progress_handler(
            handle,
            1000,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StatementProgress>.fromOpaque(context).takeUnretainedValue().mayGoOn ? 0 : 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// A statement begins that no other one calls.
    ///
    /// - Parameter isOnly: Whether no other is active.
    @inline(__always) func begin(isOnly: Bool) {
        (memoryBefore, isOverLimit) = (nil, false)
        if isOnly { uncountedInterrupter._withUnsafeGuaranteedRef { $0.forgetRequest() } }
    }

    /// Whether the statement that failed was ended for its memory; once.
    func takeOverLimit() -> Bool {
        defer { isOverLimit = false }
        return isOverLimit
    }

    private var mayGoOn: Bool {
        if cancellation?.isCancelled == true || interrupter.stopsStatement { return false }
        times &+= 1
        if let isOver, times.isMultiple(of: 100), isOver() { return false }
        guard let memoryLimit else { return true }
        let used = sqlite3_memory_used()
        let before = memoryBefore ?? used
        memoryBefore = before
        if used - before > StatementProgress.much { hasTakenMuch = true }
        isOverLimit = used - before > memoryLimit
        return !isOverLimit
    }

    /// Whether a wait for the lock of others is to end: SQLite asks the busy handler only.
    ///
    /// - Parameter requests: ``Interrupter/requests`` at its beginning.
    func stopsWait(since requests: Int) -> Bool {
        interrupter.stopsWait(since: requests, isCancelled: cancellation?.isCancelled == true)
    }

    /// Runs `body`, whose statements end with ``ResultCode/interrupted`` as soon as `isOver` says so.
    func polling<Result>(_ isOver: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
        try withoutActuallyEscaping(isOver) { isOver in
            self.isOver = isOver
            defer { self.isOver = nil }
            return try body()
        }
    }
}
