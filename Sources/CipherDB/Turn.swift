internal import Synchronization

/// One task's turn on a queue, so that its cancellation stops its own statements and nobody else's.
final class Turn: Sendable {
    private enum State {
        case waiting
        case running(Interrupter?)
        case cancelled
        case over
    }

    private let state = Mutex(State.waiting)

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

    func end() {
        state.withLock { $0 = .over }
    }

    func cancel() {
        // Interrupted under the lock: after end() the connection runs somebody else's statements.
        state.withLock { state in
            switch state {
            case .waiting: state = .cancelled
            case .running(let interrupter):
                interrupter?.interrupt()
                state = .cancelled
            case .cancelled, .over: break
            }
        }
    }
}
