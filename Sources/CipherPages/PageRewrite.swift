package import CipherKeys

/// Writes every page of a database anew: under another key, in another format of the same layout, encrypted, or decrypted.
///
/// Both sides have pages of one size with one reserve. A page that is not authentic is never written: it ends the rewrite.
package struct PageRewrite: Sendable {
    /// How the pages of one side are.
    package enum Side: Sendable {
        case plaintext(pageSize: Int)
        case encrypted(DerivedKey, CipherFormat)

        package var pageSize: Int {
            switch self {
            case .plaintext(let pageSize): pageSize
            case .encrypted(_, let format): format.pageSize
            }
        }

        /// Nil for plaintext.
        package var format: CipherFormat? {
            if case .encrypted(_, let format) = self { format } else { nil }
        }

        /// What opens the pages; nil for plaintext.
        func cipher() throws -> PageCipher? {
            if case .encrypted(let key, let format) = self { try PageCipher(key: key, format: format) } else { nil }
        }
    }

    private let from: Side
    private let to: Side

    package init(from: Side, to: Side) {
        self.from = from
        self.to = to
    }

    /// Rewrites all pages of `source` into `sink`, on all cores.
    ///
    /// - Throws: ``UnauthenticPage`` for the first page that was met which is not what was written; what reading, writing
    ///   and `progress` throw.
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
                let rewritten = try worker.rewrite(batch)
                try sink.write(rewritten, at: Int64(batch.first - 1) * Int64(size))
            }
        }
    }

    /// The buffers and ciphers of one thread.
    private final class Worker {
        private let old: BatchAuthentication?
        private let new: PageCipher?
        private let lanes: LaneEncryption?
        private let plain: UnsafeMutableRawBufferPointer
        private let vectors: UnsafeMutableRawBufferPointer
        private var result: UnsafeMutableRawBufferPointer

        init(from: Side, to: Side) throws {
            old =
                if case .encrypted(let key, let format) = from {
                    try BatchAuthentication(key: key, format: format)
                } else { nil }
            (new, lanes) =
                if case .encrypted(let key, let format) = to {
                    (try PageCipher(key: key, format: format), try LaneEncryption(key: key, format: format))
                } else { (nil, nil) }
            plain = .allocate(byteCount: from.pageSize, alignment: 64)
            vectors = .allocate(byteCount: LaneEncryption.lanes * CipherFormat.vectorSize, alignment: 64)
            result = .allocate(byteCount: 0, alignment: 64)
        }

        deinit {
            OpenSSL.cleanse(plain)
            plain.deallocate()
            vectors.deallocate()
            result.deallocate()
        }

        /// The pages in their new form, in memory that the next batch uses again.
        func rewrite(_ batch: PagePipeline.Batch) throws -> UnsafeRawBufferPointer {
            if result.count < batch.bytes.count {
                result.deallocate()
                result = .allocate(byteCount: batch.bytes.count, alignment: 4096)
            }
            if let number = try old?.damaged(in: batch).first { throw UnauthenticPage(number: Int(number)) }
            let format = (old?.cipher ?? new)?.format
            var waiting: [(number: UInt32, place: UnsafeMutableRawBufferPointer)] = []
            var index = 0
            try batch.forEach { page, number in
                guard page.count == plain.count else { throw UnauthenticPage(number: Int(number)) }
                let place = UnsafeMutableRawBufferPointer(
                    rebasing: result[(index * page.count)...].prefix(page.count)
                )
                index += 1
                if format?.isLockPage(number) == true {
                    place.initializeMemory(as: UInt8.self, repeating: 0)
                } else if let new, let lanes, number > 1 {
                    try open(page, number, into: lanes.lane(waiting.count))
                    waiting.append((number, place))
                    if waiting.count == LaneEncryption.lanes { try seal(&waiting, new, lanes) }
                } else if let new {
                    // Page 1 begins with the salt, so its text is not like the others'.
                    try OpenSSL.randomize(vectors)
                    try open(page, number, into: plain)
                    try new.encrypt(UnsafeRawBufferPointer(plain), number: number, vector: vector(0), into: place)
                } else {
                    try open(page, number, into: place)
                }
            }
            if let new, let lanes { try seal(&waiting, new, lanes) }
            return UnsafeRawBufferPointer(rebasing: result[..<batch.bytes.count])
        }

        /// Writes the plaintext of a page.
        private func open(
            _ page: UnsafeRawBufferPointer,
            _ number: UInt32,
            into plain: UnsafeMutableRawBufferPointer
        ) throws {
            guard let old else { return plain.copyMemory(from: page) }
            try old.cipher.decrypt(page, number: number, into: plain)
        }

        /// Encrypts the pages that wait in the lanes, and writes them to their places.
        private func seal(
            _ waiting: inout [(number: UInt32, place: UnsafeMutableRawBufferPointer)],
            _ new: PageCipher,
            _ lanes: LaneEncryption
        ) throws {
            guard !waiting.isEmpty else { return }
            try OpenSSL.randomize(vectors)
            try lanes.run(waiting.count, vectors: UnsafeRawBufferPointer(vectors))
            for (index, (number, place)) in waiting.enumerated() {
                try new.seal(
                    UnsafeRawBufferPointer(lanes.lane(index)),
                    number: number,
                    vector: vector(index),
                    into: place
                )
            }
            waiting.removeAll(keepingCapacity: true)
        }

        private func vector(_ index: Int) -> UnsafeRawBufferPointer {
            let start = index * CipherFormat.vectorSize
            return UnsafeRawBufferPointer(rebasing: vectors[start..<(start + CipherFormat.vectorSize)])
        }
    }
}

/// A page that is not what was written, or not whole.
package struct UnauthenticPage: Error, Equatable {
    /// From 1.
    package let number: Int
}
