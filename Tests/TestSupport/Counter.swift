internal import CipherSystem

/// A number that threads and tasks count up.
package final class Counter: Sendable {
    private let number = Lock(0)

    package init() {}

    package var value: Int { number.withLock { $0 } }

    /// Counts by `amount`, and returns the new number.
    @discardableResult package func add(_ amount: Int = 1) -> Int {
        number.withLock {
            $0 += amount
            return $0
        }
    }

    /// Makes it at least `least`.
    package func raise(to least: Int) {
        number.withLock { $0 = max($0, least) }
    }
}
