import TestSupport
import Testing

@testable import CipherDB

struct BarrierTests {
    private let drained = Counter()

    private func raised(checkedOut: Int) -> Barrier {
        var barrier = Barrier()
        barrier.raise(by: 7, checkedOut: checkedOut) { [drained] in drained.add() }
        return barrier
    }

    @Test func withoutReadersItIsDrainedAtOnce() {
        let barrier = raised(checkedOut: 0)
        #expect(drained.value == 1 && barrier.isRaised)
        #expect(barrier.isRaised(by: 7) && !barrier.isRaised(by: 8))
    }

    @Test func barrierDrainsOnceByLastReader() {
        var barrier = raised(checkedOut: 2)
        barrier.readerWasReleased(checkedOut: 1)
        #expect(drained.value == 0 && barrier.isRaised(by: 7))
        barrier.readerWasReleased(checkedOut: 0)
        barrier.readerWasReleased(checkedOut: 0)
        #expect(drained.value == 1 && barrier.isRaised)
    }

    @Test func loweredItIsNotDrained() {
        var barrier = raised(checkedOut: 1)
        barrier.lower()
        barrier.readerWasReleased(checkedOut: 0)
        #expect(drained.value == 0 && !barrier.isRaised && !barrier.isRaised(by: 7))
    }
}
