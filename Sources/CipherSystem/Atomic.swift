// Public for the compiler: only so is this inlined into the other modules.
public import CCipherSystem

/// A value that many threads read and write without a lock.
///
/// By C's atomics and not by `Synchronization.Atomic`, which needs macOS 15 and iOS 18.
@usableFromInline package struct Atomic<Value: AtomicValue>: ~Copyable, Sendable {
    @usableFromInline let cell: AtomicCell

    @inlinable package init(_ value: Value) {
        cell = .row(of: 1)
        cell.store(value.atomicBits, ordering: .relaxed)
    }

    @inlinable deinit { cell.free() }

    @inlinable @inline(__always) package func load(ordering: LoadOrdering) -> Value {
        Value(atomicBits: cell.load(ordering: ordering))
    }

    @inlinable @inline(__always) package func store(_ value: Value, ordering: StoreOrdering) {
        cell.store(value.atomicBits, ordering: ordering)
    }

    /// Returns the former value. In one order with all others.
    @inlinable package func exchange(_ value: Value) -> Value { Value(atomicBits: cell.exchange(value.atomicBits)) }

    /// Makes it `desired` where it is `expected`; returns whether it was.
    @inlinable package func compareExchange(expected: Value, desired: Value) -> Bool {
        cell.compareExchange(expected: expected.atomicBits, desired: desired.atomicBits)
    }
}

extension Atomic where Value: FixedWidthInteger {
    /// Adds `number`, with overflow; returns the new value.
    @discardableResult @inlinable package func add(_ number: Value) -> Value {
        Value(atomicBits: cell.add(number.atomicBits))
    }
}

/// The memory of an ``Atomic``, or one of a row whose values are used together.
@usableFromInline package struct AtomicCell: @unchecked Sendable {
    // Safe because it is touched by atomic operations only, until the owner of the row frees it.
    @usableFromInline let cell: UnsafeMutablePointer<csystem_atomic>

    @inlinable @inline(__always) init(_ cell: UnsafeMutablePointer<csystem_atomic>) {
        self.cell = cell
    }

    /// The first of a row, each 0.
    @inlinable package static func row(of count: Int) -> AtomicCell {
        let cells = UnsafeMutablePointer<csystem_atomic>.allocate(capacity: count)
        cells.initialize(repeating: csystem_atomic(value: 0), count: count)
        return AtomicCell(cells)
    }

    /// Frees the row whose first this is.
    @inlinable package func free() { cell.deallocate() }

    /// The one so far behind this one.
    @inlinable @inline(__always) package func advanced(by distance: Int) -> AtomicCell { AtomicCell(cell + distance) }

    @inlinable @inline(__always) package func load(ordering: LoadOrdering) -> UInt64 {
        ordering == .relaxed ? csystem_load(cell) : csystem_load_acquiring(cell)
    }

    @inlinable @inline(__always) package func store(_ value: UInt64, ordering: StoreOrdering) {
        if ordering == .relaxed { csystem_store(cell, value) } else { csystem_store_releasing(cell, value) }
    }

    /// Returns the former value. In one order with all others.
    @inlinable @inline(__always) package func exchange(_ value: UInt64) -> UInt64 { csystem_swap(cell, value) }

    /// Makes it `desired` where it is `expected`; returns whether it was.
    @inlinable @inline(__always) package func compareExchange(expected: UInt64, desired: UInt64) -> Bool {
        csystem_swap_if(cell, expected, desired) != 0
    }

    /// Adds `number`, with overflow; returns the new value.
    @inlinable @inline(__always) package func add(_ number: UInt64) -> UInt64 { csystem_add(cell, number) }
}

/// What a load does to operations after it, as in C.
@usableFromInline package enum LoadOrdering: Sendable { case relaxed, acquiring }

/// What a store does to operations before it, as in C.
@usableFromInline package enum StoreOrdering: Sendable { case relaxed, releasing }

/// What fits into an ``Atomic``.
@usableFromInline package protocol AtomicValue: Sendable {
    var atomicBits: UInt64 { get }
    init(atomicBits: UInt64)
}

extension AtomicValue where Self: FixedWidthInteger {
    @inlinable package var atomicBits: UInt64 { UInt64(truncatingIfNeeded: self) }
    @inlinable package init(atomicBits: UInt64) { self.init(truncatingIfNeeded: atomicBits) }
}

extension UInt64: AtomicValue {}
extension Int: AtomicValue {}
extension Int32: AtomicValue {}

extension Bool: AtomicValue {
    @inlinable package var atomicBits: UInt64 { self ? 1 : 0 }
    @inlinable package init(atomicBits: UInt64) { self = atomicBits != 0 }
}
