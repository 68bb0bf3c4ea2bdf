import Dispatch
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
}
