import Dispatch
import Foundation
import Synchronization

/// Runs `body` on so many threads at once, and returns the sum of what they return.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Int64) -> Int64 {
    // Each thread has a place of its own, read when all have ended.
    nonisolated(unsafe) let sums = UnsafeMutablePointer<Int64>.allocate(capacity: count)
    defer { sums.deallocate() }
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread {
            do { sums[number] = try body(number) } catch { fatalError("\(error)") }
            group.leave()
        }.start()
    }
    group.wait()
    return (0..<count).reduce(0) { $0 + sums[$1] }
}

private final class Flag: Sendable {
    let isSet = Atomic(false)
}

/// Runs `others` on so many threads while `body` runs: they end when it has.
func withThreads(
    _ count: Int,
    _ others: @escaping @Sendable (Int, _ isOver: () -> Bool) throws -> Void,
    during body: () throws -> Int64
) rethrows -> Int64 {
    let over = Flag()
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread {
            do { try others(number) { over.isSet.load(ordering: .relaxed) } } catch { fatalError("\(error)") }
            group.leave()
        }.start()
    }
    defer {
        over.isSet.store(true, ordering: .relaxed)
        group.wait()
    }
    return try body()
}

/// Blocks of a hundred keys, shared by threads that read one block after the other.
public struct Blocks: Sendable {
    private let count: Int
    private let readers: Int
    private let all: [Int64]

    /// So many blocks, of keys from 0 to `end`.
    public init(_ count: Int, readers: Int, below end: Int) {
        self.count = count
        self.readers = readers
        all = keys(count * 100, below: end)
    }

    /// Each block of a thread's share.
    public func onThreads(_ body: @escaping @Sendable (Int, ArraySlice<Int64>) throws -> Int64) -> Int64 {
        Turns.onThreads(readers) { number in
            try stride(from: number, to: count, by: readers).reduce(0) { sum, block in
                try sum + body(number, all[(block * 100)..<(block * 100 + 100)])
            }
        }
    }
}
