import Dispatch
import TestSupport
import Testing

@testable import CipherDB

struct WaitQueueTests {
    private let start = DispatchTime(uptimeNanoseconds: 1_000_000_000_000)

    private func queue(_ requests: Int...) -> WaitQueue<Int> {
        var queue = WaitQueue<Int>(limit: .seconds(10))
        for (second, request) in requests.enumerated() { _ = queue.append(request, at: start + .seconds(second)) }
        return queue
    }

    @Test func firstComeFirstServed() {
        var queue = queue(1, 2)
        #expect(queue.popFirst() == 1 && queue.popFirst() == 2 && queue.popFirst() == nil)
    }

    @Test func ticketRemovesItsRequestOnce() {
        var queue = queue(1)
        let ticket = queue.append(2, at: start)
        #expect(queue.remove(ticket) == 2 && queue.remove(ticket) == nil)
        #expect(queue.removeAll() == [1] && queue.count == 0)
    }

    @Test func onlyOverdueRequestsAreRemoved() {
        var queue = queue(1, 2, 3)
        #expect(queue.firstDeadline == start + .seconds(10))
        #expect(queue.removeOverdue(at: start + .milliseconds(10_999)) == [1])
        #expect(queue.firstDeadline == start + .seconds(11))
        #expect(queue.removeOverdue(at: start + .seconds(12)) == [2, 3])
        #expect(queue.firstDeadline == nil)
    }

    @Test func limitsRestart() {
        var queue = queue(1, 2)
        queue.restartLimits(at: start + .seconds(9))
        #expect(queue.removeOverdue(at: start + .seconds(18)).isEmpty)
        #expect(queue.removeOverdue(at: start + .seconds(19)) == [1, 2])
    }

    @Test func requestWithoutLimitIsNeverOverdue() {
        var queue = WaitQueue<Int>(limit: .seconds(10))
        _ = queue.append(1, hasLimit: false, at: start)
        #expect(queue.firstDeadline == nil)
        _ = queue.append(2, at: start + .seconds(1))
        queue.restartLimits(at: start + .seconds(2))
        #expect(queue.firstDeadline == start + .seconds(12))
        #expect(queue.removeOverdue(at: start + .seconds(100)) == [2])
        #expect(queue.popFirst() == 1)
    }

    /// Against a list of those that wait, from which each is removed where it stands.
    @Test func orderIsKeptWhateverLeaves() {
        var random = SplitMix(7)
        var queue = WaitQueue<Int>(limit: .seconds(10))
        var model: [Int] = []
        var tickets: [WaitQueue<Int>.Ticket] = []
        for step in 0..<20_000 {
            switch random.next() % 4 {
            case 0 where step % 3_000 < 2_000, 1 where step % 3_000 < 2_000:
                model.append(tickets.count)
                tickets.append(queue.append(tickets.count, at: start + .milliseconds(step)))
            case 2 where !tickets.isEmpty:
                let number = Int(random.next() % UInt64(tickets.count))
                let place = model.firstIndex(of: number)
                #expect(queue.remove(tickets[number]) == place.map { model.remove(at: $0) })
            default: #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(queue.count == model.count)
        }
        #expect(queue.removeAll() == model)
    }
}
