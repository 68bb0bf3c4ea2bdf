internal import CipherKeys
internal import CipherSystem
internal import Dispatch

/// A block of a task: it runs in that task, on a thread that may block, when it has what it waits for.
///
/// As its own executor it asks the lender when the block is to run. A continuation that waited for the answer would need a thread of
/// Swift's pool before it could use what it got, and while all of those are blocked that would be nobody's.
actor TaskBlock<S: Stock>: JobExecutor {
    private nonisolated let lender: Lender<S>
    private nonisolated let cancellation: TaskCancellation?
    private nonisolated let queue: DispatchQueue?
    private nonisolated let answer = Lock<Lender<S>.Answer?>(nil)

    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - cancellation: Nil for a block that waits for as long as it takes.
    ///   - queue: Where blocks that have an item run, for a stock of one; nil to run each on a queue of its own.
    init(_ lender: Lender<S>, _ cancellation: TaskCancellation?, on queue: DispatchQueue? = nil) {
        self.lender = lender
        self.cancellation = cancellation
        self.queue = queue
    }

    nonisolated func enqueue(_ job: UnownedJob, priority: TaskPriority) {
        lender.request(unless: cancellation) { [self] result in
            answer.withLock { $0 = result }
            // One that gets nothing must not wait behind those that do.
            let queue = (try? result.get()) == nil ? nil : queue
            (queue ?? DispatchQueue(label: "CipherDB.TaskBlock")).async(priority) {
                job.runSynchronously(on: self.asUnownedSerialExecutor())
            }
        }
    }

    /// Runs `body`, which gives the item back; to be called once.
    func run<Result: Sendable>(_ body: @Sendable (S.Item) throws -> Result) throws -> Result {
        guard let answer = answer.withLock({ $0.take() }) else {
            preconditionFailure("the block runs when its request is answered, once")
        }
        return try body(answer.get())
    }
}

/// The cancellation of one task that waits for a connection and then runs statements on it: it stops those, and no others.
final class TaskCancellation: Sendable {
    private enum State {
        case waiting(whenCancelled: @Sendable () -> Void)
        case running(Interrupter?)
        case cancelled
        case over
    }

    private let state = Lock(State.waiting(whenCancelled: {}))
    /// For the progress handler, without the lock.
    private let mayGoOn = Atomic(true)

    var isCancelled: Bool { !mayGoOn.load(ordering: .relaxed) }

    /// Runs `body`, for which the task has the connection.
    ///
    /// - Throws: `CancellationError` where the task was cancelled before, or a statement was interrupted by its
    ///   cancellation; what `body` throws.
    func run<Result>(_ interrupter: Interrupter?, _ body: () throws -> Result) throws -> Result {
        try begin(interrupter)
        defer { end() }
        do {
            return try body()
        } catch  where isCancelled && error.isInterruption {
            throw CancellationError()
        }
    }

    private func begin(_ interrupter: Interrupter?) throws {
        try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
            state = .running(interrupter)
        }
    }

    /// Calls `action` when the task is cancelled while it waits, or at once if it is cancelled.
    func whenCancelledWhileWaiting(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if case .waiting = state { state = .waiting(whenCancelled: action) }
            if case .cancelled = state { return true }
            return false
        }
        if isCancelled { action() }
    }

    private func end() {
        state.withLock { $0 = .over }
    }

    func cancel() {
        // An interruption that comes just before a statement begins would be lost; this is not.
        mayGoOn.store(false, ordering: .relaxed)
        // Interrupted under the lock: after end() the connection runs another task's statements.
        let whenWaiting: (@Sendable () -> Void)? = state.withLock { state in
            defer { if case .over = state {} else { state = .cancelled } }
            switch state {
            case .waiting(let action): return action
            case .running(let interrupter): interrupter?.interrupt()
            case .cancelled, .over: break
            }
            return nil
        }
        whenWaiting?()
    }
}

extension Error {
    /// Whether a suspension of the database may be its cause.
    var isOfSuspension: Bool { (self as? DatabaseError)?.code == .aborted || isInterruption }

    /// Whether a statement was interrupted, also one of a migration.
    fileprivate var isInterruption: Bool {
        switch self {
        case let error as DatabaseError: error.code.primary == .interrupted
        case let error as MigrationError: error.cause?.isInterruption ?? false
        default: false
        }
    }
}
