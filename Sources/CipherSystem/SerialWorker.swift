internal import CCipherSystem
package import Dispatch

/// Runs blocks one at a time, in order, on threads that may block. A block of an asynchronous call runs in the task of the
/// caller, whose cancellation and task-local values it sees.
package actor SerialWorker {
    private final class Executor: JobExecutor {
        let queue: DispatchQueue

        init(_ queue: DispatchQueue) {
            self.queue = queue
        }

        func enqueue(_ job: UnownedJob, priority: TaskPriority) {
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
        try checkThreads()
        try Task.checkCancellation()
        return try await SerialWorker(label: "CipherDB.once").run(body)
    }

    /// Throws in a child of the process that made the first asynchronous call, or that had several threads.
    package static func checkThreads() throws(UsedAfterFork) {
        try owner.check(.threads)
        guard csystem_lacks_threads() == 0 else { throw .threads }
    }

    /// Closes what nobody uses any more, for a `deinit`: here, or soon on another thread if this one runs a task and so may not block.
    package static func close(_ body: @escaping @Sendable () -> Void) {
        if Platform.isOfTask { DispatchQueue(label: "CipherDB.close").async(execute: body) } else { body() }
    }
}

/// An executor that gets each job in one way, on iOS 16 and macOS 13, too, which know the older form only.
package protocol JobExecutor: SerialExecutor {
    func enqueue(_ job: UnownedJob, priority: TaskPriority)
}

extension JobExecutor {
    #if canImport(Darwin)
        package func enqueue(_ job: UnownedJob) {
            if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
                enqueue(job, priority: TaskPriority(rawValue: job.priority.rawValue))
            } else {
                enqueue(job, priority: .medium)
            }
        }

        package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    #else
        package func enqueue(_ job: consuming ExecutorJob) {
            let priority = TaskPriority(rawValue: job.priority.rawValue)
            enqueue(UnownedJob(job), priority: priority)
        }
    #endif
}

extension Platform {
    /// Whether this thread runs a task, or belongs to Swift's pool: one that waits there blocks every task.
    package static var isOfTask: Bool {
        // What a task leaves behind when it is over is destroyed on a thread of the pool without a task.
        withUnsafeCurrentTask { $0 != nil } || isOfPool
    }

    /// Whether this thread belongs to Swift's cooperative pool, as the name of its queue says.
    package static var isOfPool: Bool {
        guard let label = csystem_queue_label() else { return false }
        let name = String(cString: label)
        return name == "Swift global concurrent queue"
            || name.hasPrefix("com.apple.root") && name.hasSuffix("cooperative")
    }
}

extension DispatchQoS {
    /// The class for the job of a task with this priority.
    package init(_ priority: TaskPriority) {
        self =
            switch priority.rawValue {
            case 0x21...: .userInteractive
            case TaskPriority.high.rawValue...: .userInitiated
            case TaskPriority.medium.rawValue...: .default
            case TaskPriority.utility.rawValue...: .utility
            case TaskPriority.background.rawValue...: .background
            default: .unspecified
            }
    }
}

extension DispatchQueue {
    /// Calls `body` with the priority of a task, whatever that of this thread is.
    package func async(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
            async(qos: DispatchQoS(priority), flags: .enforceQoS, execute: body)
        #else
            // Elsewhere Dispatch has no priorities, and a block with one takes longer.
            async(execute: body)
        #endif
    }
}
