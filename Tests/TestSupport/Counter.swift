import Synchronization

/// A number that threads and tasks count up.
package final class Counter: Sendable {
    private let number = Atomic(0)

    package init() {}

    package var value: Int { number.load(ordering: .sequentiallyConsistent) }

    /// Counts by `amount`, and returns the new number.
    @discardableResult package func add(_ amount: Int = 1) -> Int {
        number.add(amount, ordering: .sequentiallyConsistent).newValue
    }

    /// Makes it at least `least`.
    package func raise(to least: Int) {
        number.max(least, ordering: .sequentiallyConsistent)
    }
}
