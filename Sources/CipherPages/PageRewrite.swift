internal import CipherKeys
package import SQLiteFormat

/// Rewrites every page of a database: under another key, in another format of the same layout, encrypted, or decrypted.
///
/// Both codings have pages of one size with one reserve. A page whose MAC is wrong is never written: it ends the rewrite.
package struct PageRewrite: Sendable {
    private let from: PageCoding
    private let to: PageCoding

    package init(from: PageCoding, to: PageCoding) {
        self.from = from
        self.to = to
    }

    /// Rewrites all pages of `source` into `sink`, on all cores.
    ///
    /// - Throws: ``UnauthenticPage`` for the first damaged page that was met; what reading, writing and `progress` throw.
    package func run(
        _ source: any PageSource,
        into sink: some PageSink,
        progress: (_ done: Int, _ all: Int) throws -> Void
    ) throws {
        let size = from.pageSize
        guard size == to.pageSize else { throw UnusableCipherFormat.pageSize(to.pageSize) }
        try PagePipeline(source, pageSize: size).run(progress: progress) { [from, to] in
            let worker = try Worker(from: from, to: to)
            return { batch in
                try sink.write(worker.rewrite(batch), at: Int64(batch.first - 1) * Int64(size))
            }
        }
    }

    /// The codecs and buffers of one thread.
    private final class Worker {
        private let old: any PageCodec
        private let new: any PageCodec
        private let plaintext: PageBuffer
        private var result: UnsafeMutableRawBufferPointer

        init(from: PageCoding, to: PageCoding) throws {
            old = try from.codec()
            new = try to.codec()
            plaintext = PageBuffer(pageSize: from.pageSize)
            result = .allocate(byteCount: 0, alignment: 64)
        }

        deinit {
            result.deallocate()
        }

        /// The rewritten pages, in memory that the next batch uses again.
        func rewrite(_ batch: PagePipeline.Batch) throws -> UnsafeRawBufferPointer {
            if result.count < batch.bytes.count {
                result.deallocate()
                result = .allocate(byteCount: batch.bytes.count, alignment: 4096)
            }
            var start = 0
            for part in batch.parts(of: PageBuffer.capacity) {
                try old.open(part, into: plaintext)
                let pages = UnsafeMutableRawBufferPointer(rebasing: result[start...].prefix(part.bytes.count))
                try new.seal(plaintext, first: part.first, count: part.bytes.count / batch.pageSize, into: pages)
                start += part.bytes.count
            }
            return UnsafeRawBufferPointer(rebasing: result[..<batch.bytes.count])
        }
    }
}
