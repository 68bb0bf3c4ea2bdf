internal import CipherKeys
internal import CipherSystem
internal import Dispatch

/// Closing readers: for a change of the key, to save memory, and for good.
extension ReaderPool {
    /// Waits until every reader is released, closes them, and runs `body`, during which requests wait.
    ///
    /// - Throws: what `body` throws; `RekeyError.notStarted` when a reader was not released within `limit`, and then
    ///   nothing was done.
    func withoutReaders<Result>(of path: String?, within limit: Duration, _ body: () throws -> Result) throws -> Result
    {
        let drained = DispatchSemaphore(value: 0)
        lender.withStock { readers in
            readers.barrier.raise(by: Platform.currentThread, checkedOut: readers.checkedOut) { drained.signal() }
        }
        defer { lowerBarrier() }
        guard drained.wait(timeout: .now() + limit.dispatched) == .success else {
            let count = lender.withStock { $0.checkedOut }
            throw RekeyError(
                .notStarted,
                path: path,
                reason: "\(count.counted("reading block")) did not end within \(limit)"
            )
        }
        closeIdle()
        return try body()
    }

    private func lowerBarrier() {
        lender.restock(restartsLimits: true) { $0.barrier.lower() }
    }

    /// Closes the idle readers.
    func closeIdle() {
        let idle = lender.withStock { readers in
            defer { readers.idle = [] }
            return readers.idle
        }
        for reader in idle { reader.database.closeInBlock() }
    }

    /// Closes the idle readers, and the others when they are released. Requests that wait get an error.
    func close() {
        lender.close(Self.closed) { $0.isClosed = true }
        closeIdle()
    }

    /// Interrupts the statements that the readers run.
    func interruptAll() {
        let interrupters = lender.withStock { $0.runners.values.map(\.interrupter) }
        for interrupter in interrupters { interrupter?.interrupt() }
    }
}
