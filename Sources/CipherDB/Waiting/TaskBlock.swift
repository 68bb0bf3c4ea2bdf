internal import CipherSystem
internal import Dispatch

/// A block of a task: it runs in that task, on a thread that may block, when it has what it waits for.
///
/// As its own executor it asks the lender when the block is to run. A continuation that waited for the answer would need a thread of
/// Swift's pool before it could use what it got, and while all of those are blocked that would be nobody's.
actor TaskBlock<S: Stock>: SerialExecutor {
    private nonisolated let lender: Lender<S>
    private nonisolated let cancellation: TaskCancellation?
    private nonisolated let queue: DispatchQueue?
    private nonisolated let answer = Lock<Lender<S>.Answer?>(nil)

    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - cancellation: Nil for a block that waits for as long as it takes.
    ///   - queue: Where blocks that have an item run, for a stock of one; nil to run each on a queue of its own.
    init(_ lender: Lender<S>, _ cancellation: TaskCancellation?, on queue: DispatchQueue? = nil) {
        self.lender = lender
        self.cancellation = cancellation
        self.queue = queue
    }

    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let priority = TaskPriority(rawValue: job.priority.rawValue)
        let job = UnownedJob(job)
        lender.request(unless: cancellation) { [self] result in
            answer.withLock { $0 = result }
            // One that gets nothing must not wait behind those that do.
            let queue = (try? result.get()) == nil ? nil : queue
            (queue ?? DispatchQueue(label: "CipherDB.TaskBlock")).async(priority) {
                job.runSynchronously(on: self.asUnownedSerialExecutor())
            }
        }
    }

    /// Runs `body`, which gives the item back; to be called once.
    func run<Result: Sendable>(_ body: @Sendable (S.Item) throws -> Result) throws -> Result {
        guard let answer = answer.withLock({ $0.take() }) else {
            preconditionFailure("the block runs when its request is answered, once")
        }
        return try body(answer.get())
    }
}
