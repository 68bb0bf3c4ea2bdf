internal import Dispatch

/// Runs blocks one at a time, in order, on threads that may block. A block of an asynchronous call runs in the task of the
/// caller, whose cancellation and task-local values it sees.
package actor SerialWorker {
    private final class Executor: SerialExecutor {
        let queue: DispatchQueue

        init(_ queue: DispatchQueue) {
            self.queue = queue
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let priority = TaskPriority(rawValue: job.priority.rawValue)
            let job = UnownedJob(job)
            queue.async(priority) { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    /// The process that made the first asynchronous call: in a child of it libdispatch has no threads.
    private static let owner = OwnerProcess()

    private nonisolated let executor: Executor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init(label: String) {
        executor = Executor(DispatchQueue(label: label))
    }

    /// Runs `body` after the blocks before it, without a thread that waits.
    package func run<Result>(_ body: @Sendable () throws -> sending Result) throws -> sending Result {
        try body()
    }

    /// Runs `body` apart from all others, without a thread that waits.
    ///
    /// - Throws: what `body` throws; `CancellationError` where the task is cancelled already; ``UsedAfterFork``.
    package static func once<Result>(_ body: @Sendable () throws -> sending Result) async throws -> sending Result {
        try owner.check(.threads)
        try Task.checkCancellation()
        return try await SerialWorker(label: "CipherDB.once").run(body)
    }

    /// Closes what nobody uses any more, for a `deinit`: here, or soon on another thread if this one runs a task and so may not block.
    package static func close(_ body: @escaping @Sendable () -> Void) {
        if Platform.isOfTask { DispatchQueue(label: "CipherDB.close").async(execute: body) } else { body() }
    }
}
