internal import CipherSystem
internal import Dispatch

/// A block of a task: it runs in that task, on a thread that may block, when it has what it waits for.
actor TaskBlock<S: Stock> {
    /// Asks the lender when the block is to run. A continuation that waited for the answer would need a thread of Swift's pool before
    /// it could use what it got, and while all of those are blocked that would be nobody's.
    private final class Executor: SerialExecutor {
        let lender: Lender<S>
        let cancellation: TaskCancellation?
        private let answer = Lock<Lender<S>.Answer?>(nil)
        private let queue: DispatchQueue?

        init(_ lender: Lender<S>, _ cancellation: TaskCancellation?, _ queue: DispatchQueue?) {
            self.lender = lender
            self.cancellation = cancellation
            self.queue = queue
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let priority = DispatchQoS(TaskPriority(rawValue: job.priority.rawValue))
            let job = UnownedJob(job)
            lender.request(unless: cancellation) { [self] result in
                answer.withLock { $0 = result }
                // One that gets nothing must not wait behind those that do.
                let queue = (try? result.get()) == nil ? nil : queue
                (queue ?? DispatchQueue(label: "CipherDB.TaskBlock")).async(qos: priority, flags: .enforceQoS) {
                    job.runSynchronously(on: self.asUnownedSerialExecutor())
                }
            }
        }

        /// What was waited for.
        func item() throws -> S.Item {
            guard let answer = answer.withLock({ $0.take() }) else {
                preconditionFailure("the block runs when its request is answered, once")
            }
            return try answer.get()
        }
    }

    private nonisolated let executor: Executor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - cancellation: Nil for a block that waits for as long as it takes.
    ///   - queue: Where blocks that have an item run, for a stock of one; nil to run each on a queue of its own.
    init(_ lender: Lender<S>, _ cancellation: TaskCancellation?, on queue: DispatchQueue? = nil) {
        executor = Executor(lender, cancellation, queue)
    }

    /// Runs `body`, which gives the item back; to be called once.
    func run<Result: Sendable>(_ body: @Sendable (S.Item) throws -> Result) throws -> Result {
        try body(executor.item())
    }
}
