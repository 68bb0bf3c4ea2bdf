internal import CipherSystem

/// How a connection waits for the locks of others: as long as its operation may wait in all, where there is one, else for each lock again.
final class LockWaiting {
    private let limit: Duration
    private let operation: LockWait?
    private var wait: LockWait
    private var hasGivenUp = false

    init(limit: Duration) {
        self.limit = limit
        operation = limit > .zero ? LockWait.current : nil
        wait = operation ?? LockWait(limit: limit)
    }

    /// Waits a few milliseconds; returns false, without waiting, when the time is used up.
    func mayTryAgain(isFirst: Bool) -> Bool {
        if isFirst { wait = operation ?? LockWait(limit: limit) }
        hasGivenUp = !wait.mayTryAgain()
        return !hasGivenUp
    }

    /// How long the last lock was waited for that was not had, once; nil where the engine did not ask to wait.
    func takeWaited() -> Duration? {
        defer { hasGivenUp = false }
        return hasGivenUp ? wait.waited : nil
    }
}
