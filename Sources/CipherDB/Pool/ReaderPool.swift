internal import CipherKeys
internal import CipherSystem

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
