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

    struct Readers: Stock {
        let maximum: Int
        var idle: [Reader] = []
        /// Readers that a block has, and those that are being opened.
        var checkedOut = 0
        var barrier = Barrier()
        var isClosed = false
        /// The readers by the thread that runs a block with them, to recognise a block inside of a block.
        var runners: [UInt: Reader] = [:]

        /// Waiting for a change of the key does not count.
        var countsWaiting: Bool { !barrier.isRaised }

        func refusal() -> (any Error)? {
            if isClosed { return ReaderPool.closed }
            return barrier.isRaised(by: Platform.currentThread) ? ReaderPool.insideOfBarrier : nil
        }

        mutating func take() -> Grant? {
            guard !barrier.isRaised else { return nil }
            if let reader = idle.popLast() {
                checkedOut += 1
                return .reader(reader)
            }
            guard checkedOut < maximum else { return nil }
            checkedOut += 1
            return .mayOpen
        }

        /// Does nothing and returns false for an open reader of a closed pool.
        fileprivate mutating func putBack(_ reader: Reader?) -> Bool {
            if let reader, reader.isSound {
                if isClosed { return false }
                idle.append(reader)
            }
            checkedOut -= 1
            barrier.readerWasReleased(checkedOut: checkedOut)
            return true
        }
    }

    let lender: Lender<Readers>
    /// How long a block waits for a reader, and a change of the key for the blocks that have one.
    let waitingLimit: Duration
    private let open: @Sendable () throws -> sending Database

    /// - Parameter overdue: Told of the error of each block that waited longer.
    init(
        maximum: Int,
        waitingLimit: Duration,
        overdue: @escaping @Sendable (DatabaseError) -> Void,
        open: @escaping @Sendable () throws -> sending Database
    ) {
        self.waitingLimit = waitingLimit
        lender = Lender(Readers(maximum: maximum), limit: waitingLimit) {
            let error = DatabaseError(
                .busy,
                "no reader was released within \(waitingLimit): all \(maximum) are in use; "
                    + "shorten the blocks, or raise Configuration.maximumReaders or readerWaitingLimit"
            )
            overdue(error)
            return error
        }
        self.open = open
    }

    var counts: Counts {
        let waiting = lender.waiting
        return lender.withStock { Counts(idle: $0.idle.count, checkedOut: $0.checkedOut, waiting: waiting) }
    }

    /// The reader that a block of this pool runs with on this thread.
    var current: Reader? {
        lender.withStock { $0.runners[Platform.currentThread] }
    }

    /// Blocks the thread until a reader is free.
    func checkOut() throws -> Reader {
        try reader(lender.take())
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

    @discardableResult private func returned(_ reader: Reader?) -> Bool {
        lender.restock { $0.putBack(reader) }
    }

    /// Runs `body`, in which this thread has the reader.
    func run<Result>(_ reader: Reader, _ body: (Database) throws -> Result) throws -> Result {
        try reader.database.turn.begin()
        defer { reader.database.turn.end() }
        try reader.database.connection?.checkFile()
        let thread = Platform.currentThread
        lender.withStock { $0.runners[thread] = reader }
        defer { lender.withStock { $0.runners[thread] = nil } }
        return try body(reader.database)
    }

    // MARK: Refusals

    static var closed: DatabaseError { DatabaseError(.misuse, "the pool is closed") }

    static var insideOfBarrier: DatabaseError {
        DatabaseError(
            .misuse,
            "prepareDatabase asked the pool for a reader during a change of key"
        )
    }
}

/// Closing readers: for a change of the key, to save memory, and for good.
extension ReaderPool {
    /// Waits until every reader is released, closes them, and runs `body`, during which requests wait.
    ///
    /// - Throws: what `body` throws; `RekeyError.notStarted` when a reader was not released within `limit`, and then
    ///   nothing was done.
    func withoutReaders<Result>(of path: String?, within limit: Duration, _ body: () throws -> Result) throws -> Result
    {
        let drained = DispatchSemaphore(value: 0)
        lender.withStock { readers in
            readers.barrier.raise(by: Platform.currentThread, checkedOut: readers.checkedOut) { drained.signal() }
        }
        defer { lowerBarrier() }
        guard drained.wait(timeout: .now() + limit.dispatched) == .success else {
            let count = lender.withStock { $0.checkedOut }
            throw RekeyError(
                .notStarted,
                path: path,
                reason: "\(count.counted("reading block")) did not end within \(limit)"
            )
        }
        closeIdle()
        return try body()
    }

    private func lowerBarrier() {
        lender.restock(restartsLimits: true) { $0.barrier.lower() }
    }

    /// Closes the idle readers.
    func closeIdle() {
        let idle = lender.withStock { readers in
            defer { readers.idle = [] }
            return readers.idle
        }
        for reader in idle { reader.database.closeInBlock() }
    }

    /// Closes the idle readers, and the others when they are released. Requests that wait get an error.
    func close() {
        lender.close(Self.closed) { $0.isClosed = true }
        closeIdle()
    }

    /// Interrupts the statements that the readers run.
    func interruptAll() {
        let interrupters = lender.withStock { $0.runners.values.map(\.interrupter) }
        for interrupter in interrupters { interrupter?.interrupt() }
    }
}

/// One connection of a pool that only reads.
final class Reader: @unchecked Sendable {
    // Safe because a reader is either idle, under the pool's lock, or checked out by one block, whose turn it is.
    let database: Database
    /// For other threads: only one uses `database`.
    let interrupter: Interrupter?
    private let connection: Connection?

    init(_ database: Database) {
        self.database = database
        interrupter = database.interrupter
        connection = database.connection
        database.turn.share()
    }

    /// False if a block closed the connection, even if it opened it again.
    var isSound: Bool { connection != nil && database.connection === connection }
}

/// While it is raised no reader is checked out, so that the key can change.
struct Barrier {
    private enum State {
        case lowered
        case raised(thread: UInt)
        /// Raised, and waiting for the readers that are checked out.
        case draining(thread: UInt, whenDrained: @Sendable () -> Void)
    }

    private var state = State.lowered

    var isRaised: Bool {
        if case .lowered = state { false } else { true }
    }

    /// Whether this thread raised it: a reader that it asks for would never come.
    func isRaised(by thread: UInt) -> Bool {
        switch state {
        case .lowered: false
        case .raised(let owner), .draining(let owner, _): owner == thread
        }
    }

    /// - Parameter whenDrained: Called here or by `readerWasReleased`, once, when no reader is checked out.
    mutating func raise(by thread: UInt, checkedOut: Int, whenDrained: @escaping @Sendable () -> Void) {
        state = .draining(thread: thread, whenDrained: whenDrained)
        readerWasReleased(checkedOut: checkedOut)
    }

    /// - Parameter checkedOut: How many readers are still checked out.
    mutating func readerWasReleased(checkedOut: Int) {
        guard checkedOut == 0, case .draining(let thread, let whenDrained) = state else { return }
        state = .raised(thread: thread)
        whenDrained()
    }

    mutating func lower() {
        state = .lowered
    }
}
