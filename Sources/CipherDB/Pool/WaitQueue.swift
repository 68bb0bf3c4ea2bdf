internal import Dispatch

/// Requests that wait, first come first served, each for at most a limit.
struct WaitQueue<Request> {
    /// Identifies a request that waits.
    struct Ticket: Equatable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        let ticket: Ticket
        let request: Request
        var since: DispatchTime
    }

    private let limit: DispatchTimeInterval
    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0

    init(limit: DispatchTimeInterval) {
        self.limit = limit
    }

    var count: Int { entries.count }

    /// When the first limit ends; nil if nothing waits. The order of the requests is that of their limits.
    var firstDeadline: DispatchTime? { entries.first.map { $0.since + limit } }

    mutating func append(_ request: Request, at time: DispatchTime) -> Ticket {
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        entries.append(Entry(ticket: ticket, request: request, since: time))
        return ticket
    }

    mutating func popFirst() -> Request? {
        entries.isEmpty ? nil : entries.removeFirst().request
    }

    /// Returns nil if the request no longer waits.
    mutating func remove(_ ticket: Ticket) -> Request? {
        entries.firstIndex { $0.ticket == ticket }.map { entries.remove(at: $0).request }
    }

    mutating func removeAll() -> [Request] {
        defer { entries = [] }
        return entries.map(\.request)
    }

    /// Removes the requests whose limit has ended.
    mutating func removeOverdue(at time: DispatchTime) -> [Request] {
        let overdue = entries.prefix { $0.since + limit <= time }
        entries.removeFirst(overdue.count)
        return overdue.map(\.request)
    }

    /// Gives each request its whole limit again.
    mutating func restartLimits(at time: DispatchTime) {
        for index in entries.indices { entries[index].since = time }
    }
}
