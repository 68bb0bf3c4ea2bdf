internal import CipherKeys
internal import CipherSystem
internal import Dispatch

/// Checks readers out to one block at a time. They are opened when they are first needed, up to a maximum; then blocks wait.
final class ReaderPool: Sendable {
    struct Counts: Sendable, Equatable {
        var idle = 0
        var checkedOut = 0
        var waiting = 0
    }

    /// What a request gets.
    enum Grant: Sendable {
        case reader(Reader)
        case mayOpen
    }

    typealias Request = @Sendable (Result<Grant, any Error>) -> Void

    struct State {
        var idle: [Reader] = []
        /// Readers that a block has, and those that are being opened.
        var checkedOut = 0
        var queue: WaitQueue<Request>
        var barrier = Barrier()
        var isClosed = false
        /// The readers by the thread that runs a block with them, to recognise a block inside of a block.
        var runners: [UInt: Reader] = [:]
        /// Whether a timer will look for overdue requests. One serves all.
        var isTimed = false
    }

    let state: Lock<State>
    let maximum: Int
    let waitingLimit: Duration
    private let open: @Sendable () throws -> sending Database
    /// For the timer. Blocks can occupy all threads of a global queue.
    let clock = DispatchQueue(label: "CipherDB.DatabasePool.clock")

    init(
        maximum: Int,
        waitingLimit: Duration,
        open: @escaping @Sendable () throws -> sending Database
    ) {
        state = Lock(State(queue: WaitQueue(limit: waitingLimit.dispatched)))
        self.maximum = maximum
        self.waitingLimit = waitingLimit
        self.open = open
    }

    var counts: Counts {
        state.withLock { Counts(idle: $0.idle.count, checkedOut: $0.checkedOut, waiting: $0.queue.count) }
    }

    /// The reader that a block of this pool runs with on this thread.
    var current: Reader? {
        state.withLock { $0.runners[Platform.currentThread] }
    }

    /// What the next request gets; nil if it has to wait.
    func grant(_ state: inout State) -> Grant? {
        guard !state.barrier.isRaised else { return nil }
        if let reader = state.idle.popLast() {
            state.checkedOut += 1
            return .reader(reader)
        }
        guard state.checkedOut < maximum else { return nil }
        state.checkedOut += 1
        return .mayOpen
    }

    func reader(_ grant: Grant) throws -> Reader {
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

    /// Gives the reader to the next request; closes it if the pool is closed.
    func release(_ reader: Reader) {
        // Before it counts as released: a change of the key must not meet its connection.
        if !reader.isSound { reader.database.closeInBlock() }
        if !returned(reader) {
            reader.database.closeInBlock()
            returned(reader)
        }
    }

    /// Does nothing and returns false for an open reader of a closed pool.
    @discardableResult private func returned(_ reader: Reader?) -> Bool {
        var answers: [@Sendable () -> Void] = []
        let isDone = state.withLock { state in
            if let reader, reader.isSound {
                if state.isClosed { return false }
                state.idle.append(reader)
            }
            state.checkedOut -= 1
            answers = serve(&state)
            state.barrier.readerWasReleased(checkedOut: state.checkedOut)
            return true
        }
        for answer in answers { answer() }
        return isDone
    }

    /// Answers for as many requests as there are readers; to be called without the lock.
    func serve(_ state: inout State) -> [@Sendable () -> Void] {
        var answers: [@Sendable () -> Void] = []
        while state.queue.count > 0, let grant = grant(&state), let request = state.queue.popFirst() {
            answers.append { request(.success(grant)) }
        }
        return answers
    }

    /// Runs `body`, in which this thread has the reader.
    func run<Result>(_ reader: Reader, _ body: (Database) throws -> Result) throws -> Result {
        try reader.database.turn.begin()
        defer { reader.database.turn.end() }
        try reader.database.connection?.checkFile()
        let thread = Platform.currentThread
        state.withLock { $0.runners[thread] = reader }
        defer { state.withLock { $0.runners[thread] = nil } }
        return try body(reader.database)
    }
}
