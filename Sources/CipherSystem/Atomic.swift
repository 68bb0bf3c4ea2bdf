// Public for the compiler: only so is this inlined into the other modules.
public import CCipherSystem

/// A value that many threads read and write without a lock.
///
/// By C's atomics and not by `Synchronization.Atomic`, which needs macOS 15 and iOS 18.
@usableFromInline package struct Atomic<Value: AtomicValue>: ~Copyable, @unchecked Sendable {
    // Safe because it is touched by atomic operations only, until nobody has it any more.
    @usableFromInline let cell: UnsafeMutablePointer<csystem_atomic>

    @inlinable package init(_ value: Value) {
        cell = .allocate(capacity: 1)
        cell.initialize(to: csystem_atomic(value: value.atomicBits))
    }

    @inlinable deinit { cell.deallocate() }

    @inlinable @inline(__always) package func load(ordering: LoadOrdering) -> Value {
        Value(atomicBits: ordering == .relaxed ? csystem_load(cell) : csystem_load_acquiring(cell))
    }

    @inlinable @inline(__always) package func store(_ value: Value, ordering: StoreOrdering) {
        if ordering == .relaxed {
            csystem_store(cell, value.atomicBits)
        } else {
            csystem_store_releasing(cell, value.atomicBits)
        }
    }

    /// Returns the former value. In one order with all others.
    @inlinable package func exchange(_ value: Value) -> Value {
        Value(atomicBits: csystem_swap(cell, value.atomicBits))
    }

    /// Makes it `desired` where it is `expected`; returns whether it was.
    @inlinable package func compareExchange(expected: Value, desired: Value) -> Bool {
        csystem_swap_if(cell, expected.atomicBits, desired.atomicBits) != 0
    }
}

extension Atomic where Value: FixedWidthInteger {
    /// Adds `number`, with overflow; returns the new value.
    @discardableResult @inlinable package func add(_ number: Value) -> Value {
        Value(atomicBits: csystem_add(cell, number.atomicBits))
    }
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
