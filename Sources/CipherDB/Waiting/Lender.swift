internal import CipherSystem
internal import Dispatch

/// What blocks need to run, of which there is not enough for all at once: readers, or the turn to use a connection.
protocol Stock: Sendable {
    associatedtype Item: Sendable
    /// Whether the time that blocks wait now counts.
    var countsWaiting: Bool { get }
    /// Why a block of this thread gets nothing, and need not wait; nil if it may.
    func refusal() -> (any Error)?
    /// Takes out what the next block gets; nil if it has to wait.
    mutating func take() -> Item?
}

/// Gives each block of a thread or a task what it needs, or has it wait: first come first served, until its limit ends or its
/// task is cancelled.
final class Lender<S: Stock>: Sendable {
    typealias Answer = Result<S.Item, any Error>
    typealias Request = @Sendable (Answer) -> Void

    private struct State {
        var stock: S
        /// The blocks that wait.
        var queue: WaitQueue<Request>
        /// Whether a timer will look for overdue requests. One serves all.
        var isTimed = false

        mutating func next() -> (Request, S.Item)? {
            guard queue.count > 0, let item = stock.take(), let request = queue.popFirst() else { return nil }
            return (request, item)
        }
    }

    private enum Entrance {
        case answered(Answer)
        case waits(WaitQueue<Request>.Ticket)
    }

    private let state: Lock<State>
    /// Nil for none.
    private let limit: Duration?
    private let overdue: @Sendable () -> any Error

    /// - Parameters:
    ///   - limit: How long a request waits; nil for as long as it takes.
    ///   - overdue: What a request gets then.
    init(_ stock: sending S, limit: Duration?, overdue: @escaping @Sendable () -> any Error) {
        state = Lock(State(stock: stock, queue: WaitQueue(limit: limit?.dispatched ?? .never)))
        self.limit = limit
        self.overdue = overdue
    }

    /// How many requests wait.
    var waiting: Int { state.withLock { $0.queue.count } }

    /// Looks at the stock, or changes what no request waits for.
    func withStock<Result: Sendable>(_ body: (inout S) -> Result) -> Result {
        state.withLock { body(&$0.stock) }
    }

    /// Changes the stock, and answers the requests that wait for that.
    ///
    /// - Parameter restartsLimits: Whether what was waited until now does not count.
    @discardableResult
    func restock<Result: Sendable>(restartsLimits: Bool = false, _ body: (inout S) -> Result) -> Result {
        let (result, isWaitedFor) = state.withLock { state in
            let result = body(&state.stock)
            if restartsLimits { state.queue.restartLimits(at: .now()) }
            return (result, state.queue.count > 0)
        }
        // One after the other, because an answer may take time, and not under the lock.
        if isWaitedFor { while let (request, item) = state.withLock({ $0.next() }) { request(.success(item)) } }
        return result
    }

    /// Gives what the caller has to the request that waits longest; false where none waits.
    func passOn(_ item: S.Item) -> Bool {
        guard let request = state.withLock({ $0.queue.popFirst() }) else { return false }
        request(.success(item))
        return true
    }

    /// Changes the stock for the last time, and refuses all requests that wait.
    func close(_ error: some Error, _ body: (inout S) -> Void) {
        let requests = state.withLock { state in
            body(&state.stock)
            return state.queue.removeAll()
        }
        for request in requests { request(.failure(error)) }
    }

    // MARK: Asking

    /// Takes an item, and blocks the thread until there is one.
    func take(hasLimit: Bool = true) throws -> S.Item {
        var waiter: Waiter<Answer>?
        let entrance = enter(hasLimit: hasLimit) {
            let new = Waiter<Answer>()
            waiter = new
            return { new.set($0) }
        }
        if case .answered(let answer) = entrance { return try answer.get() }
        guard let answer = waiter?.wait() else { throw overdue() }
        return try answer.get()
    }

    /// Answers the request, now or when there is an item, or when the task is cancelled.
    ///
    /// - Parameter cancellation: Nil if the request waits for as long as it takes.
    func request(unless cancellation: TaskCancellation?, _ request: @escaping Request) {
        switch enter(hasLimit: cancellation != nil, { request }) {
        case .answered(let answer): request(answer)
        case .waits(let ticket):
            // After the request waits, so that a task that is already cancelled does not.
            cancellation?.whenCancelledWhileWaiting { [self] in
                let request = state.withLock { $0.queue.remove(ticket) }
                request?(.failure(CancellationError()))
            }
        }
    }

    /// Where each block enters, of a thread and of a task.
    ///
    /// - Parameter request: Called for one that has to wait.
    private func enter(hasLimit: Bool, _ request: () -> Request) -> Entrance {
        var startsTimer = false
        let entrance: Entrance = state.withLock { state in
            if let refusal = state.stock.refusal() { return .answered(.failure(refusal)) }
            // Those that wait come first.
            if state.queue.count == 0, let item = state.stock.take() { return .answered(.success(item)) }
            // Who has it may be held by the end of the process, and give nothing back.
            if Platform.isEnding { return .answered(.failure(DatabaseError.processIsEnding)) }
            startsTimer = hasLimit && limit != nil && !state.isTimed
            if startsTimer { state.isTimed = true }
            return .waits(state.queue.append(request(), hasLimit: hasLimit, at: .now()))
        }
        if startsTimer, let limit { refuseOverdue(at: .now() + limit.dispatched) }
        return entrance
    }

    // MARK: The limit

    private func refuseOverdue(at time: DispatchTime) {
        waitingClock.asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            let now = DispatchTime.now()
            let (overdueRequests, next) = state.withLock { state in
                if !state.stock.countsWaiting { state.queue.restartLimits(at: now) }
                let overdueRequests = state.queue.removeOverdue(at: now)
                let next = state.queue.firstDeadline
                state.isTimed = next != nil
                return (overdueRequests, next)
            }
            for request in overdueRequests { request(.failure(overdue())) }
            if let next { refuseOverdue(at: next) }
        }
    }
}

/// A thread that waits for its answer.
final class Waiter<Answer: Sendable>: Sendable {
    private let answer = Lock<Answer?>(nil)
    private let answered = DispatchSemaphore(value: 0)

    func set(_ result: Answer) {
        answer.withLock { $0 = result }
        answered.signal()
    }

    func wait() -> Answer? {
        answered.wait()
        return answer.withLock { $0 }
    }
}

/// For the timers of all lenders. Blocks can occupy all threads of a global queue.
let waitingClock = DispatchQueue(label: "CipherDB.waiting")
