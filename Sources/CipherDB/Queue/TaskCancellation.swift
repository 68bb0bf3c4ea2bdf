internal import CipherKeys
internal import CipherSystem
internal import Synchronization

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
    /// Whether a statement was interrupted, also one of a migration.
    fileprivate var isInterruption: Bool {
        switch self {
        case let error as DatabaseError: error.code.primary == .interrupted
        case let error as MigrationError: error.cause?.isInterruption ?? false
        default: false
        }
    }
}
