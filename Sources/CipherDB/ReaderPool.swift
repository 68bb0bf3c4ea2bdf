internal import CipherKeys
internal import Dispatch

/// Connections that are lent to one block at a time, made when they are first needed, up to a maximum.
///
/// Whoever comes when all are lent waits in a queue, first come first served, and gets an error when the wait grows too
/// long.
package final class ReaderPool: Sendable {
    /// What can be seen from outside of the pool's use.
    package struct Counts: Sendable, Equatable {
        package var idle = 0
        package var lent = 0
        package var waiting = 0
    }

    /// One connection of the pool.
    package final class Reader: @unchecked Sendable {
        // It holds because a reader is either idle, under the pool's lock, or lent to one block.
        package let database: Database
        /// Where asynchronous blocks run.
        let queue = DispatchQueue(label: "CipherDB.DatabasePool.reader")
        /// From before a change of key: closed instead of lent again.
        let generation: Int

        init(_ database: Database, generation: Int) {
            self.database = database
            self.generation = generation
        }
    }

    /// Somebody who waits.
    private final class Waiter: Sendable {
        let resume: @Sendable (Result<Grant, any Error>) -> Void

        init(_ resume: @escaping @Sendable (Result<Grant, any Error>) -> Void) {
            self.resume = resume
        }
    }

    /// What a waiter gets: a reader, or the right to open one.
    private enum Grant: Sendable {
        case reader(Reader)
        case mayOpen(generation: Int)
    }

    private struct State {
        var idle: [Reader] = []
        /// Lent readers, and those that are being opened.
        var lent = 0
        var waiters: [Waiter] = []
        /// While it is set nobody gets a reader, and no wait ends by its limit.
        var isHeldUp = false
        var isClosed = false
        var generation = 0
        /// Which threads run a block with a reader, so that a block that comes back is noticed.
        var runners: [UInt: Reader] = [:]
        /// Called when the last lent reader came back.
        var whenDrained: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let maximum: Int
    private let waitingLimit: Duration
    private let open: @Sendable () throws -> sending Database

    package init(
        maximum: Int,
        waitingLimit: Duration,
        open: @escaping @Sendable () throws -> sending Database
    ) {
        self.maximum = maximum
        self.waitingLimit = waitingLimit
        self.open = open
    }

    package var counts: Counts {
        state.withLock { Counts(idle: $0.idle.count, lent: $0.lent, waiting: $0.waiters.count) }
    }

    /// The reader that a block of this pool runs with on this thread.
    package var current: Reader? {
        state.withLock { $0.runners[Platform.currentThread] }
    }

    // MARK: Lending

    /// Waits for a reader, holding up the thread.
    package func take() throws -> Reader {
        let answer = Lock<Result<Grant, any Error>?>(nil)
        let answered = DispatchSemaphore(value: 0)
        let waiter = Waiter { result in
            answer.withLock { $0 = result }
            answered.signal()
        }
        ask(waiter)
        while answered.wait(timeout: .now() + waitingLimit.dispatched) == .timedOut {
            giveUp(waiter)
        }
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
        turn.whenCancelledWhileWaiting { [self] in
            drop(waiter, CancellationError())
        }
        ask(waiter)
        watch(waiter)
    }

    private func ask(_ waiter: Waiter) {
        let answer: Result<Grant, any Error>? = state.withLock { state in
            if state.isClosed { return .failure(Self.closed) }
            guard let grant = next(&state) else {
                state.waiters.append(waiter)
                return nil
            }
            return .success(grant)
        }
        if let answer { waiter.resume(answer) }
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
        return .mayOpen(generation: state.generation)
    }

    private func reader(_ grant: Grant) throws -> Reader {
        switch grant {
        case .reader(let reader): return reader
        case .mayOpen(let generation):
            do {
                return Reader(try open(), generation: generation)
            } catch {
                returned(nil)
                throw error
            }
        }
    }

    /// Takes a reader back; whoever waits longest gets it.
    package func giveBack(_ reader: Reader) {
        returned(reader)
    }

    private func returned(_ reader: Reader?) {
        var grants: [(Waiter, Grant)] = []
        var closing: Reader?
        let drained: (@Sendable () -> Void)? = state.withLock { state in
            state.lent -= 1
            if let reader {
                if state.isClosed || reader.generation != state.generation {
                    closing = reader
                } else {
                    state.idle.append(reader)
                }
            }
            grants = serve(&state)
            guard state.lent == 0 else { return nil }
            defer { state.whenDrained = nil }
            return state.whenDrained
        }
        closing?.database.close()
        for (waiter, grant) in grants { waiter.resume(.success(grant)) }
        drained?()
    }

    private func serve(_ state: inout State) -> [(Waiter, Grant)] {
        var grants: [(Waiter, Grant)] = []
        while !state.waiters.isEmpty, let grant = next(&state) {
            grants.append((state.waiters.removeFirst(), grant))
        }
        return grants
    }

    /// Runs `body` and remembers that this thread runs it.
    package func run<Result>(_ reader: Reader, _ body: (Database) throws -> Result) rethrows -> Result {
        let thread = Platform.currentThread
        state.withLock { $0.runners[thread] = reader }
        defer { state.withLock { $0.runners[thread] = nil } }
        return try body(reader.database)
    }

    // MARK: The limit of waiting

    private var overdue: DatabaseError {
        DatabaseError(
            .busy,
            "no reader became free within \(waitingLimit): all \(maximum) are in use; "
                + "shorten the blocks, or raise Configuration.maximumReaders or readerWaitingLimit"
        )
    }

    private static var closed: DatabaseError { DatabaseError(.misuse, "the pool is closed") }

    /// Ends the wait, unless the pool itself is what holds it up.
    private func giveUp(_ waiter: Waiter) {
        let isHeldUp = state.withLock { $0.isHeldUp }
        if !isHeldUp { drop(waiter, overdue) }
    }

    private func drop(_ waiter: Waiter, _ error: any Error) {
        let waits = state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        if waits { waiter.resume(.failure(error)) }
    }

    private func watch(_ waiter: Waiter) {
        DispatchQueue.global().asyncAfter(deadline: .now() + waitingLimit.dispatched) { [weak self, weak waiter] in
            guard let self, let waiter else { return }
            giveUp(waiter)
            let waits = state.withLock { $0.waiters.contains { $0 === waiter } }
            if waits { watch(waiter) }
        }
    }

    // MARK: Barrier and end

    /// Lets nobody have a reader, waits until all came back, closes them, and runs `body`; then those who waited go on.
    ///
    /// - Throws: what `body` throws; BUSY when a reader was not back within `limit`, and then nothing was done.
    func withoutReaders<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result {
        let drained = DispatchSemaphore(value: 0)
        state.withLock { state in
            state.isHeldUp = true
            guard state.lent > 0 else {
                drained.signal()
                return
            }
            state.whenDrained = { drained.signal() }
        }
        defer { release() }
        guard drained.wait(timeout: .now() + limit.dispatched) == .success else {
            let lent = state.withLock { state in
                state.whenDrained = nil
                return state.lent
            }
            throw RekeyError.notStarted(
                "\(lent) reading block\(lent == 1 ? "" : "s") did not end within \(limit)"
            )
        }
        closeIdle()
        state.withLock { $0.generation += 1 }
        return try body()
    }

    private func release() {
        let grants = state.withLock { state in
            state.isHeldUp = false
            return serve(&state)
        }
        for (waiter, grant) in grants { waiter.resume(.success(grant)) }
    }

    /// Closes the readers that nobody uses; others are made when they are needed.
    package func closeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { reader.database.close() }
    }

    /// Closes the readers that nobody uses, and those in use when they come back. Whoever waits gets an error.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(.failure(Self.closed)) }
        closeIdle()
    }

    /// Stops what the idle and lent readers are doing.
    package func interruptAll() {
        let interrupters = state.withLock { $0.runners.values.map(\.database.interrupter) }
        for interrupter in interrupters { interrupter?.interrupt() }
    }
}

extension Duration {
    /// For Dispatch, which counts nanoseconds in 64 bits.
    var dispatched: DispatchTimeInterval {
        .milliseconds(Int(max(.zero, min(self, .seconds(1_000_000))) / .milliseconds(1)))
    }
}
