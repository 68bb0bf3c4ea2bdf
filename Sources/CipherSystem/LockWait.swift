/// The time that an operation may spend on waiting for the locks of others: one limit, however many locks it asks for.
///
/// Only the waits count. An operation that reads or derives for minutes still has its time for the next lock.
package final class LockWait: Sendable {
    /// That of the operation which runs in this task; nil where each lock has a limit of its own.
    @TaskLocal package static var current: LockWait?

    private struct State {
        var rest: Duration
        var waited = Duration.zero
        var isReported = false
    }

    /// How long all waits took.
    package var waited: Duration { state.withLock { $0.waited } }

    private let state: Lock<State>
    private let report: (@Sendable () -> Void)?
    /// A wait that is shorter is not reported.
    private static let unreported = Duration.milliseconds(300)
    private static let pause = Duration.milliseconds(5)

    /// - Parameter report: Called once, when a wait is noticed.
    package init(limit: Duration, report: (@Sendable () -> Void)? = nil) {
        state = Lock(State(rest: limit))
        self.report = report
    }

    /// That of the operation; a new one, of `limit`, where there is none. A limit of 0 stays: who asks once does not wait.
    package static func current(or limit: Duration) -> LockWait {
        guard limit > .zero, let current else { return LockWait(limit: limit) }
        return current
    }

    /// Runs `body` with `wait` as the limit of all its locks, unless it is part of an operation that has one.
    package static func limiting<Result>(to wait: @autoclosure () -> LockWait, _ body: () throws -> Result) rethrows
        -> Result
    {
        guard current == nil else { return try body() }
        return try $current.withValue(wait()) { try body() }
    }

    /// Waits a few milliseconds; returns false, without waiting, when the time is used up.
    package func mayTryAgain() -> Bool {
        let rest = state.withLock { $0.rest }
        guard rest > .zero else { return false }
        let began = ContinuousClock.now
        Platform.sleep(milliseconds: max(1, Int(min(rest, LockWait.pause) / .milliseconds(1))))
        let waited = ContinuousClock.now - began
        state.withLock {
            $0.rest -= waited
            $0.waited += waited
        }
        reportIfNoticed()
        return true
    }

    /// Uses up the time: no wait goes on, also on another thread.
    package func end() {
        state.withLock { $0.rest = .zero }
    }

    private func reportIfNoticed() {
        guard let report else { return }
        let isDue = state.withLock { state in
            guard !state.isReported, state.waited >= LockWait.unreported else { return false }
            state.isReported = true
            return true
        }
        if isDue { report() }
    }
}
