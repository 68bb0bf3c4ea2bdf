internal import Dispatch

/// Requests that wait, first come first served, each for at most a limit.
struct WaitQueue<Request> {
    /// Identifies a request that waits.
    struct Ticket: Equatable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        /// Nil when it no longer waits.
        var request: Request?
        /// Nil for a request that waits without a limit.
        var since: DispatchTime?
    }

    private let limit: DispatchTimeInterval
    /// By number, without those before `firstNumber`: a request leaves in the same time however many wait.
    private var entries: [Entry] = []
    private var firstNumber = 0
    /// Before it in `entries` none waits.
    private var first = 0
    private static var keptCapacity: Int { 64 }

    /// How many wait.
    private(set) var count = 0

    init(limit: DispatchTimeInterval) {
        self.limit = limit
    }

    /// When the first limit ends; nil if nothing waits that has one. The order of the requests is that of their limits.
    var firstDeadline: DispatchTime? {
        entries[first...].lazy.compactMap { $0.request == nil ? nil : $0.since }.first.map { $0 + limit }
    }

    mutating func append(_ request: Request, hasLimit: Bool = true, at time: DispatchTime) -> Ticket {
        entries.append(Entry(request: request, since: hasLimit ? time : nil))
        count += 1
        return Ticket(number: firstNumber + entries.count - 1)
    }

    mutating func popFirst() -> Request? {
        while first < entries.count {
            if let request = take(first) { return request }
        }
        return nil
    }

    /// Returns nil if the request no longer waits.
    mutating func remove(_ ticket: Ticket) -> Request? {
        let index = ticket.number - firstNumber
        return index < first ? nil : take(index)
    }

    mutating func removeAll() -> [Request] {
        var requests: [Request] = []
        while let request = popFirst() { requests.append(request) }
        return requests
    }

    /// Removes the requests whose limit has ended.
    mutating func removeOverdue(at time: DispatchTime) -> [Request] {
        var overdue: [Request] = []
        var number = firstNumber + first
        while number - firstNumber < entries.count {
            defer { number += 1 }
            guard let since = entries[number - firstNumber].since else { continue }
            guard since + limit <= time else { break }
            if let request = remove(Ticket(number: number)) { overdue.append(request) }
        }
        return overdue
    }

    /// Gives each request its whole limit again.
    mutating func restartLimits(at time: DispatchTime) {
        for index in entries.indices where entries[index].since != nil { entries[index].since = time }
    }

    private mutating func take(_ index: Int) -> Request? {
        let request = entries[index].request.take()
        if request != nil { count -= 1 }
        if index == first { first += 1 }
        forgetThoseBefore()
        return request
    }

    private mutating func forgetThoseBefore() {
        let areAllGone = first == entries.count
        guard areAllGone || first >= WaitQueue.keptCapacity && first >= entries.count - first else { return }
        firstNumber += first
        if areAllGone {
            entries.removeAll(keepingCapacity: entries.count <= WaitQueue.keptCapacity)
        } else {
            entries.removeFirst(first)
        }
        first = 0
    }
}
