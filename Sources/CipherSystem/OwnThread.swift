internal import Dispatch

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A thread for one piece of work. Those of libdispatch may all be blocked, and a forked child has none of them.
package enum OwnThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs `body` on a new thread; on this one, and to its end, where the system has no more threads.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        // Signals are for the threads of the program.
        var all = sigset_t()
        var mask = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &mask)
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { OwnThread.run($0) }, work.toOpaque())
            if code == 0, let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { OwnThread.run($0!) }, work.toOpaque())
            if code == 0 { pthread_detach(thread) }
        #endif
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        if code != 0 { work.takeRetainedValue().body() }
    }

    private static func run(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
}

/// Two pieces of work at the same time, such as the derivations of two passphrases.
package enum SideBySide {
    /// Runs `here` on this thread, in its task, and `there` on another one; returns when both have ended.
    package static func run<Here, There: Sendable>(
        _ here: () throws -> Here,
        _ there: @Sendable @escaping () throws -> There
    ) -> (Result<Here, any Error>, Result<There, any Error>) {
        let found = Lock<Result<There, any Error>?>(nil)
        let owner = OwnerProcess()
        let hasEnded = DispatchSemaphore(value: 0)
        OwnThread.start {
            let result = Result { try there() }
            found.withLock { $0 = result }
            hasEnded.signal()
        }
        let result = Result { try here() }
        guard owner.isCurrent else { return (result, .failure(UsedAfterFork.threads)) }
        hasEnded.wait()
        // It was set before the signal.
        return (result, found.withLock { $0! })
    }
}
