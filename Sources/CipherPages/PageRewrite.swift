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
        private let old: PageCipher?
        private let new: PageCipher?
        private let plain: UnsafeMutableRawBufferPointer
        private let vectors: UnsafeMutableRawBufferPointer
        private var result: UnsafeMutableRawBufferPointer

        init(from: Side, to: Side) throws {
            old = try from.cipher()
            new = try to.cipher()
            plain = .allocate(byteCount: from.pageSize, alignment: 16)
            vectors = .allocate(byteCount: 256 * CipherFormat.vectorSize, alignment: 16)
            result = .allocate(byteCount: 0, alignment: 16)
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
            var index = 0
            try batch.forEach { page, number in
                let place = UnsafeMutableRawBufferPointer(
                    rebasing: result[(index * batch.pageSize)...].prefix(batch.pageSize)
                )
                let vector = index % 256
                if vector == 0, new != nil { try OpenSSL.randomize(vectors) }
                let start = vector * CipherFormat.vectorSize
                try rewrite(page, number, UnsafeRawBufferPointer(vectors)[start...], into: place)
                index += 1
            }
            return UnsafeRawBufferPointer(rebasing: result[..<batch.bytes.count])
        }

        private func rewrite(
            _ page: UnsafeRawBufferPointer,
            _ number: UInt32,
            _ vector: Slice<UnsafeRawBufferPointer>,
            into place: UnsafeMutableRawBufferPointer
        ) throws {
            guard page.count == plain.count else { throw UnauthenticPage(number: Int(number)) }
            if let format = (old ?? new)?.format, format.isLockPage(number) {
                return _ = place.initializeMemory(as: UInt8.self, repeating: 0)
            }
            if let old {
                guard try old.isAuthentic(page, number: number) != false else {
                    throw UnauthenticPage(number: Int(number))
                }
                try old.decrypt(page, number: number, into: new == nil ? place : plain)
            }
            guard let new else { return }
            let vector = UnsafeRawBufferPointer(rebasing: vector.prefix(CipherFormat.vectorSize))
            try new.encrypt(
                old == nil ? page : UnsafeRawBufferPointer(plain),
                number: number,
                vector: vector,
                into: place
            )
        }
    }
}

extension PageRewrite.Side {
    fileprivate func cipher() throws -> PageCipher? {
        switch self {
        case .plaintext: nil
        case .encrypted(let key, let format): try PageCipher(key: key, format: format)
        }
    }
}

/// A page that is not what was written, or not whole.
package struct UnauthenticPage: Error, Equatable {
    /// From 1.
    package let number: Int
}
