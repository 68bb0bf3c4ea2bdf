internal import CipherKeys
internal import CipherSystem
internal import Dispatch
package import SQLiteFormat

/// Works over all pages of a file, a batch at a time, on every core.
///
/// One worker at a time reads; each then works on the batch that it read. The memory is bounded, whatever the size of the
/// file: a batch has a mebibyte at most, and all workers together 16 MiB.
package struct PagePipeline {
    /// Consecutive pages.
    package struct Batch: @unchecked Sendable {
        // Safe because its bytes are one worker's.
        /// The number of the first page, from 1.
        package let first: UInt32
        package let pageSize: Int
        /// The pages; the last one of the file may not be whole.
        package let bytes: UnsafeRawBufferPointer

        /// Calls `body` with each page and its number.
        package func forEach(_ body: (UnsafeRawBufferPointer, UInt32) throws -> Void) rethrows {
            var number = first
            for start in stride(from: 0, to: bytes.count, by: pageSize) {
                try body(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(pageSize)), number)
                number &+= 1
            }
        }

        /// The same bytes as pages of another size, of which this size is a multiple.
        package func pages(of size: Int) -> Batch {
            Batch(first: UInt32((Int(first) - 1) * (pageSize / size)) + 1, pageSize: size, bytes: bytes)
        }

        /// The batch in parts of `count` pages; the last may have fewer.
        func parts(of count: Int) -> [Batch] {
            stride(from: 0, to: bytes.count, by: count * pageSize).map { start in
                Batch(
                    first: first + UInt32(start / pageSize),
                    pageSize: pageSize,
                    bytes: UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(count * pageSize))
                )
            }
        }
    }

    private let source: any PageSource
    private let pageSize: Int
    /// How many pages the file has; one at the end that is not whole counts.
    package let pageCount: Int
    private let size: Int64
    private let batchPages: Int
    private let workers: Int

    package init(_ source: any PageSource, pageSize: Int, workers: Int = Platform.processorCount) throws {
        self.source = source
        self.pageSize = pageSize
        size = try source.size()
        pageCount = Int((size + Int64(pageSize) - 1) / Int64(pageSize))
        guard pageCount <= UInt32.max else { throw TooManyPages(count: pageCount) }
        batchPages = max(1, min(1 << 20, (16 << 20) / workers) / pageSize)
        self.workers = max(1, min(workers, (pageCount + batchPages - 1) / batchPages))
    }

    /// Runs all batches through workers that `makeWorker` makes, each on a thread of its own.
    ///
    /// - Parameter progress: Called on the calling thread with the pages done and all.
    /// - Throws: the first error of a worker or of `progress`; then no new batch is begun.
    package func run(
        progress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in },
        makeWorker: @escaping @Sendable () throws -> (Batch) throws -> Void
    ) throws {
        let plan = Plan(source: source, pageSize: pageSize, size: size, batchPages: batchPages)
        let state = Lock(State(running: workers))
        let news = DispatchSemaphore(value: 0)
        for _ in 0..<workers {
            OwnThread.start {
                do {
                    try plan.work(state, makeWorker(), news)
                } catch {
                    state.withLock { $0.fail(error) }
                }
                state.withLock { $0.running -= 1 }
                news.signal()
            }
        }
        // A child that `progress` forks has no workers to wait for.
        let owner = OwnerProcess()
        var told = 0
        while true {
            news.wait()
            let (done, running, failed) = state.withLock { ($0.done, $0.running, $0.error != nil) }
            if done > told, !failed {
                told = done
                do {
                    try progress(done, pageCount)
                    try owner.check(.database)
                } catch {
                    guard owner.isCurrent else { throw error }
                    state.withLock { $0.fail(error) }
                }
            }
            if running == 0 { break }
        }
        if let error = state.withLock({ $0.error }) { throw error }
    }

    private struct State {
        var running: Int
        /// The next page that nobody has read.
        var next = 0
        var done = 0
        var error: (any Error)?

        mutating func fail(_ error: any Error) {
            if self.error == nil { self.error = error }
        }
    }

    /// What all workers know.
    private struct Plan: @unchecked Sendable {
        // Safe because the source is used under the lock of the state, and only while `run` waits.
        let source: any PageSource
        let pageSize: Int
        let size: Int64
        let batchPages: Int

        func work(
            _ state: Lock<State>,
            _ body: (Batch) throws -> Void,
            _ news: DispatchSemaphore
        ) throws {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: batchPages * pageSize, alignment: 4096)
            defer { buffer.deallocate() }
            while let batch = try state.withLock({ try read(&$0, into: buffer) }) {
                try body(batch)
                state.withLock { $0.done += (batch.bytes.count + pageSize - 1) / pageSize }
                news.signal()
            }
        }

        private func read(_ state: inout State, into buffer: UnsafeMutableRawBufferPointer) throws -> Batch? {
            let offset = Int64(state.next) * Int64(pageSize)
            guard state.error == nil, offset < size else { return nil }
            let count = Int(min(Int64(buffer.count), size - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            let read = try source.read(into: part, at: offset)
            // A file that became shorter meanwhile has zeros there, which are not authentic.
            part[read...].initializeMemory(as: UInt8.self, repeating: 0)
            let first = state.next + 1
            state.next += batchPages
            return Batch(first: UInt32(first), pageSize: pageSize, bytes: UnsafeRawBufferPointer(part))
        }
    }
}

/// More pages than a database can have: 4,294,967,294 (sqlite.org/limits.html).
package struct TooManyPages: Error, CustomStringConvertible {
    let count: Int

    package var description: String { "\(count) pages are more than a database can have" }
}
