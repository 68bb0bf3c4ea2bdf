internal import CipherSystem
internal import Dispatch

/// A block of a task that reads: it runs in that task, on a thread that may block, when there is a reader for it.
actor ReadingBlock {
    /// Asks for a reader when the block is to run. A continuation that waited for one would need a thread of Swift's pool before
    /// it could use it, and while all of those are blocked the reader would be nobody's.
    private final class Executor: SerialExecutor {
        let readers: ReaderPool
        let cancellation: TaskCancellation
        private let grant = Lock<Result<ReaderPool.Grant, any Error>?>(nil)
        private let queue = DispatchQueue(label: "CipherDB.DatabasePool.read")

        init(_ readers: ReaderPool, _ cancellation: TaskCancellation) {
            self.readers = readers
            self.cancellation = cancellation
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            readers.request(unless: cancellation) { [self] answer in
                grant.withLock { $0 = answer }
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        /// The reader that was waited for.
        func reader() throws -> Reader {
            guard let grant = grant.withLock({ $0.take() }) else {
                preconditionFailure("the block runs when its request is answered, once")
            }
            return try readers.reader(grant.get())
        }
    }

    private nonisolated let executor: Executor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ readers: ReaderPool, _ cancellation: TaskCancellation) {
        executor = Executor(readers, cancellation)
    }

    /// Runs `body`; to be called once.
    func run<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) throws -> Result {
        let readers = executor.readers
        let cancellation = executor.cancellation
        let reader = try executor.reader()
        defer { readers.release(reader) }
        return try cancellation.run(reader.interrupter) {
            try readers.run(reader) { try $0.watched(by: cancellation, body) }
        }
    }
}
