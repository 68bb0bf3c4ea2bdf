internal import CipherKeys
internal import Synchronization

/// One task's turn on a queue, so that its cancellation stops its own statements and nobody else's.
final class Turn: Sendable {
    private enum State {
        case waiting(whenCancelled: @Sendable () -> Void)
        case running(Interrupter?)
        case cancelled
        case over
    }

    private let state = Lock(State.waiting(whenCancelled: {}))
    /// What the engine asks for while it works.
    private let mayGoOn = Atomic(true)

    var isCancelled: Bool { !mayGoOn.load(ordering: .relaxed) }

    /// Throws where the task was cancelled before its turn came.
    func begin(_ interrupter: Interrupter?) throws {
        try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
            state = .running(interrupter)
        }
    }

    /// Throws where the task was cancelled meanwhile.
    func checkCancellation() throws {
        try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
        }
    }

    /// Has `action` called when the task is cancelled before its turn begins, also where it is already.
    func whenCancelledWhileWaiting(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if case .waiting = state { state = .waiting(whenCancelled: action) }
            if case .cancelled = state { return true }
            return false
        }
        if isCancelled { action() }
    }

    func end() {
        state.withLock { $0 = .over }
    }

    func cancel() {
        // An interruption that comes just before a statement begins would be lost; this is not.
        mayGoOn.store(false, ordering: .relaxed)
        // Interrupted under the lock: after end() the connection runs somebody else's statements.
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
