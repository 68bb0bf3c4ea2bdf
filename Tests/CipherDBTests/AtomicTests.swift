import CipherSystem
import Foundation
import TestSupport
import Testing

/// What threads do to one value without a lock.
@Suite struct AtomicTests {
    @Test func noAdditionIsLost() {
        let number = Atomic(Int32(-5))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { number.add(1) }
        }
        #expect(number.load(ordering: .acquiring) == 79_995)
    }

    @Test func oneThreadWins() {
        let winner = Atomic(UInt64(0))
        let wins = Counter()
        DispatchQueue.concurrentPerform(iterations: 64) { index in
            if winner.compareExchange(expected: 0, desired: .max - UInt64(index)) { wins.add() }
        }
        #expect(wins.value == 1 && winner.load(ordering: .relaxed) > .max - 64)
    }

    @Test func exchangeReturnsFormerValue() {
        let flag = Atomic(true)
        #expect(flag.exchange(false) && !flag.exchange(true) && flag.load(ordering: .relaxed))
        let number = Atomic(Int.min)
        number.store(-1, ordering: .releasing)
        #expect(number.exchange(.max) == -1 && number.load(ordering: .acquiring) == .max)
    }
}
