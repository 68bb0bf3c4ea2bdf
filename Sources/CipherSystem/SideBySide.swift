internal import Dispatch

/// Two pieces of work at the same time, such as the derivations of two passphrases.
package enum SideBySide {
    /// Runs `here` on this thread, in its task, and `there` on another one; returns when both have ended.
    package static func run<Here, There: Sendable>(
        _ here: () throws -> Here,
        _ there: @Sendable @escaping () throws -> There
    ) -> (Result<Here, any Error>, Result<There, any Error>) {
        let found = Lock<Result<There, any Error>?>(nil)
        let hasEnded = DispatchSemaphore(value: 0)
        OwnThread.start {
            let result = Result { try there() }
            found.withLock { $0 = result }
            hasEnded.signal()
        }
        let result = Result { try here() }
        hasEnded.wait()
        // It was set before the signal.
        return (result, found.withLock { $0! })
    }
}
