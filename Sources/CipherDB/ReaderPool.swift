internal import CipherKeys
internal import Dispatch

/// Connections that are lent to one block at a time, made when they are first needed, up to a maximum.
///
/// Whoever comes when all are lent waits in a queue, first come first served, and gets an error when the wait grows too
/// long.
final class ReaderPool: Sendable {
    /// What can be seen from outside of the pool's use.
    struct Counts: Sendable, Equatable {
        var idle = 0
        var lent = 0
        var waiting = 0
    }

    /// One connection of the pool.
    final class Reader: @unchecked Sendable {
        // It holds because a reader is either idle, under the pool's lock, or lent to one block.
        let database: Database
        /// For other threads: `database` is one thread's at a time.
        let interrupter: Interrupter?
        private let connection: Connection?
        /// Where asynchronous blocks run.
        let queue = DispatchQueue(label: "CipherDB.DatabasePool.reader")

        init(_ database: Database) {
            self.database = database
            interrupter = database.interrupter
            connection = database.connection
        }

        /// Whether it is as it was made: a block may have closed it, and even opened it again.
        var isSound: Bool { connection != nil && database.connection === connection }
    }

    /// Somebody who waits.
    final class Waiter: Sendable {
        let resume: @Sendable (Result<Grant, any Error>) -> Void
        let began = DispatchTime.now()

        init(_ resume: @escaping @Sendable (Result<Grant, any Error>) -> Void) {
            self.resume = resume
        }
    }

    /// What a waiter gets: a reader, or the right to open one.
    enum Grant: Sendable {
        case reader(Reader)
        case mayOpen
    }

    struct State {
        var idle: [Reader] = []
        /// Lent readers, and those that are being opened.
        var lent = 0
        var waiters: [Waiter] = []
        /// While it is set nobody gets a reader, and no wait ends by its limit.
        var isHeldUp = false
        /// The thread that holds it up: what it asks for itself would never come.
        var holder: UInt?
        /// When the last holding up ended: the limit of waiting counts from then.
        var wentOn: DispatchTime?
        var isClosed = false
        /// Which threads run a block with a reader, so that a block that comes back is noticed.
        var runners: [UInt: Reader] = [:]
        /// Called when the last lent reader came back.
        var whenDrained: (@Sendable () -> Void)?
        /// Whether a timer will look at who waits.
        var isWatched = false
    }

    let state = Lock(State())
    let maximum: Int
    let waitingLimit: Duration
    private let open: @Sendable () throws -> sending Database
    /// Where a timer looks at who waits. Not a global queue, whose few threads may all be held up in blocks.
    let clock = DispatchQueue(label: "CipherDB.DatabasePool.clock")

    init(
        maximum: Int,
        waitingLimit: Duration,
        open: @escaping @Sendable () throws -> sending Database
    ) {
        self.maximum = maximum
        self.waitingLimit = waitingLimit
        self.open = open
    }

    var counts: Counts {
        state.withLock { Counts(idle: $0.idle.count, lent: $0.lent, waiting: $0.waiters.count) }
    }

    /// The reader that a block of this pool runs with on this thread.
    var current: Reader? {
        state.withLock { $0.runners[Platform.currentThread] }
    }

    // MARK: Lending

    /// Waits for a reader, holding up the thread.
    func take() throws -> Reader {
        let answer = Lock<Result<Grant, any Error>?>(nil)
        let answered = DispatchSemaphore(value: 0)
        let waiter = Waiter { result in
            answer.withLock { $0 = result }
            answered.signal()
        }
        ask(waiter)
        answered.wait()
        guard let answer = answer.withLock({ $0 }) else { throw overdue }
        return try reader(answer.get())
    }

    /// Calls `resume` with a reader, or with the error, on a thread of the pool's.
    func take(_ turn: Turn, _ resume: @escaping @Sendable (Result<Reader, any Error>) -> Void) {
        let waiter = Waiter { [self] grant in
            // Not on the thread that gave the reader back, which has work of its own.
            DispatchQueue.global().async {
                resume(Result { try self.reader(grant.get()) })
            }
        }
        ask(waiter)
        // After it waits, so that a task that is cancelled already does not wait.
        turn.whenCancelledWhileWaiting { [self] in
            drop(waiter, CancellationError())
        }
    }

    private func ask(_ waiter: Waiter) {
        let answer: Result<Grant, any Error>? = state.withLock { state in
            if state.isClosed { return .failure(Self.closed) }
            if state.holder == Platform.currentThread { return .failure(Self.heldUpByOneself) }
            guard let grant = next(&state) else {
                state.waiters.append(waiter)
                return nil
            }
            return .success(grant)
        }
        if let answer { waiter.resume(answer) } else { watch() }
    }

    /// What the next in the queue gets, if there is anything.
    private func next(_ state: inout State) -> Grant? {
        guard !state.isHeldUp else { return nil }
        if let reader = state.idle.popLast() {
            state.lent += 1
            return .reader(reader)
        }
        guard state.lent < maximum else { return nil }
        state.lent += 1
        return .mayOpen
    }

    private func reader(_ grant: Grant) throws -> Reader {
        switch grant {
        case .reader(let reader): return reader
        case .mayOpen:
            do {
                return Reader(try open())
            } catch {
                returned(nil)
                throw error
            }
        }
    }

    /// Takes a reader back; the first in the queue gets it. Of a closed pool it is closed.
    func giveBack(_ reader: Reader) {
        // Before it counts as back: a change of key must not meet its connection.
        if !reader.isSound { reader.database.close() }
        if !returned(reader) {
            reader.database.close()
            returned(reader)
        }
    }

    /// False, and nothing is done, for an open reader of a pool that is closed.
    @discardableResult private func returned(_ reader: Reader?) -> Bool {
        var grants: [(Waiter, Grant)] = []
        var drained: (@Sendable () -> Void)?
        let isDone = state.withLock { state in
            if let reader, reader.isSound {
                if state.isClosed { return false }
                state.idle.append(reader)
            }
            state.lent -= 1
            grants = serve(&state)
            if state.lent == 0 {
                drained = state.whenDrained
                state.whenDrained = nil
            }
            return true
        }
        for (waiter, grant) in grants { waiter.resume(.success(grant)) }
        drained?()
        return isDone
    }

    func serve(_ state: inout State) -> [(Waiter, Grant)] {
        var grants: [(Waiter, Grant)] = []
        while !state.waiters.isEmpty, let grant = next(&state) {
            grants.append((state.waiters.removeFirst(), grant))
        }
        return grants
    }

    /// Runs `body` and remembers that this thread runs it.
    func run<Result>(_ reader: Reader, _ body: (Database) throws -> Result) throws -> Result {
        try reader.database.connection?.checkFile()
        let thread = Platform.currentThread
        state.withLock { $0.runners[thread] = reader }
        defer { state.withLock { $0.runners[thread] = nil } }
        return try body(reader.database)
    }
}

extension Duration {
    /// For Dispatch, which counts nanoseconds in 64 bits.
    var dispatched: DispatchTimeInterval {
        .milliseconds(Int(max(.zero, min(self, .seconds(1_000_000))) / .milliseconds(1)))
    }
}
