internal import CipherKeys
internal import Dispatch

/// What holds the lending up, and what ends it.
extension ReaderPool {
    /// Lets nobody have a reader, waits until all came back, closes them, and runs `body`; then those who waited go on.
    ///
    /// - Throws: what `body` throws; ``RekeyError/notStarted(_:)`` when a reader was not back within `limit`, and then nothing
    ///   was done.
    func withoutReaders<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result {
        let drained = DispatchSemaphore(value: 0)
        state.withLock { state in
            state.isHeldUp = true
            state.holder = Platform.currentThread
            guard state.lent > 0 else {
                drained.signal()
                return
            }
            state.whenDrained = { drained.signal() }
        }
        defer { release() }
        guard drained.wait(timeout: .now() + limit.dispatched) == .success else {
            let lent = state.withLock { state in
                state.whenDrained = nil
                return state.lent
            }
            throw RekeyError.notStarted(
                "\(lent) reading block\(lent == 1 ? "" : "s") did not end within \(limit)"
            )
        }
        closeIdle()
        return try body()
    }

    private func release() {
        let grants = state.withLock { state in
            state.isHeldUp = false
            state.holder = nil
            state.wentOn = .now()
            return serve(&state)
        }
        for (waiter, grant) in grants { waiter.resume(.success(grant)) }
    }

    /// Closes the readers that nobody uses; others are made when they are needed.
    func closeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { reader.database.close() }
    }

    /// Closes the readers that nobody uses, and those in use when they come back. Whoever waits gets an error.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(.failure(Self.closed)) }
        closeIdle()
    }

    /// Stops what the idle and lent readers are doing.
    func interruptAll() {
        let interrupters = state.withLock { $0.runners.values.map(\.interrupter) }
        for interrupter in interrupters { interrupter?.interrupt() }
    }
}
