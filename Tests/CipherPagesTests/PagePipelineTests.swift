import CipherKeys
import CipherPages
import CipherSystem
import SQLiteFormat
import Testing

@Suite struct PagePipelineTests {
    struct Stop: Error {}

    /// Bytes that tell where they stand.
    private struct Numbers: PageSource {
        let count: Int64

        func size() throws -> Int64 { count }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let end = min(Int64(buffer.count), count - offset)
            for index in 0..<Int(end) { buffer[index] = UInt8(truncatingIfNeeded: (offset + Int64(index)) / 1024) }
            return Int(end)
        }
    }

    @Test(arguments: [1, 2, 7], [0, 1, 1023, 1024, 1025, 3 << 20, (5 << 20) + 10] as [Int64])
    func everyPageComesOnce(workers: Int, size: Int64) throws {
        let seen = Lock<[UInt32: Int]>([:])
        var last = 0
        let pipeline = try PagePipeline(Numbers(count: size), pageSize: 1024, workers: workers)
        try pipeline.run { done, all in
            #expect(done > last && done <= all)
            last = done
        } makeWorker: {
            { batch in
                try batch.forEach { page, number in
                    let isRight = page.allSatisfy { $0 == UInt8(truncatingIfNeeded: number - 1) }
                    guard isRight else { throw Stop() }
                    seen.withLock { $0[number, default: 0] += page.count }
                }
            }
        }
        let pages = Int((size + 1023) / 1024)
        #expect(last == pages && pipeline.pageCount == pages)
        #expect(seen.withLock { $0.count } == pages)
        #expect(seen.withLock { $0.values.reduce(0, +) } == Int(size))
    }

    /// A file of which half is gone when it is read.
    private struct Cut: PageSource {
        let whole: Numbers

        func size() throws -> Int64 { whole.count }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let rest = Int(max(0, min(Int64(buffer.count), whole.count / 2 - offset)))
            return try whole.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<rest]), at: offset)
        }
    }

    @Test func pagesThatAreGoneAreZeros() throws {
        let seen = Lock(0)
        try PagePipeline(Cut(whole: Numbers(count: 5 << 20)), pageSize: 1024, workers: 1).run {
            { batch in
                try batch.forEach { page, number in
                    let expected = number <= 5 << 9 ? UInt8(truncatingIfNeeded: number - 1) : 0
                    guard page.allSatisfy({ $0 == expected }) else { throw Stop() }
                    seen.withLock { $0 += 1 }
                }
            }
        }
        #expect(seen.withLock { $0 } == 5 << 10)
    }

    @Test func pipelineRethrowsEveryError() throws {
        let pipeline = try PagePipeline(Numbers(count: 8 << 20), pageSize: 1024, workers: 3)
        #expect(throws: Stop.self) { try pipeline.run(makeWorker: { throw Stop() }) }
        #expect(throws: Stop.self) { try pipeline.run(makeWorker: { { _ in throw Stop() } }) }
        #expect(throws: Stop.self) {
            try pipeline.run { _, _ in
                throw Stop()
            } makeWorker: {
                { _ in }
            }
        }
    }
}
