internal import CipherKeys
internal import CipherSystem
internal import Dispatch

/// Closing readers: for a change of the key, to save memory, and for good.
extension ReaderPool {
    /// Waits until every reader is released, closes them, and runs `body`, during which requests wait.
    ///
    /// - Throws: what `body` throws; ``RekeyError/Problem/notStarted(_:)`` when a reader was not released within `limit`, and then
    ///   nothing was done.
    func withoutReaders<Result>(of path: String?, within limit: Duration, _ body: () throws -> Result) throws -> Result
    {
        let drained = DispatchSemaphore(value: 0)
        state.withLock { state in
            state.barrier.raise(by: Platform.currentThread, checkedOut: state.checkedOut) { drained.signal() }
        }
        defer { lowerBarrier() }
        guard drained.wait(timeout: .now() + limit.dispatched) == .success else {
            let count = state.withLock { $0.checkedOut }
            throw RekeyError(
                path: path,
                problem: .notStarted(
                    "\(count.counted("reading block")) did not end within \(limit)"
                )
            )
        }
        closeIdle()
        return try body()
    }

    private func lowerBarrier() {
        let answers = state.withLock { state in
            state.barrier.lower()
            state.queue.restartLimits(at: .now())
            return serve(&state)
        }
        for answer in answers { answer() }
    }

    /// Closes the idle readers.
    func closeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { reader.database.closeInBlock() }
    }

    /// Closes the idle readers, and the others when they are released. Requests that wait get an error.
    func close() {
        let requests = state.withLock { state in
            state.isClosed = true
            return state.queue.removeAll()
        }
        for request in requests { request(.failure(Self.closed)) }
        closeIdle()
    }

    /// Interrupts the statements that the readers run.
    func interruptAll() {
        let interrupters = state.withLock { $0.runners.values.map(\.interrupter) }
        for interrupter in interrupters { interrupter?.interrupt() }
    }
}
