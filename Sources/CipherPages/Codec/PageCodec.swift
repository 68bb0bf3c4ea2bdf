package import CipherKeys
internal import SQLiteFormat

/// Reads and writes the pages of one database, a batch at a time. For one thread at a time.
protocol PageCodec: AnyObject {
    /// Writes the plaintext of up to ``PageBuffer/capacity`` pages.
    ///
    /// - Throws: ``UnauthenticPage`` for a page whose MAC is wrong, or that is not whole.
    func open(_ batch: PagePipeline.Batch, into plaintext: PageBuffer) throws

    /// Writes the pages that the file gets for the first `count` pages of `plaintext`, which it overwrites.
    ///
    /// - Parameter first: The number of the first page, from 1.
    func seal(_ plaintext: PageBuffer, first: UInt32, count: Int, into pages: UnsafeMutableRawBufferPointer) throws
}

/// A page whose MAC is wrong, or that is not whole.
package struct UnauthenticPage: Error, Equatable {
    /// From 1.
    package let number: Int
}

/// How the pages of a database file are encoded.
package enum PageCoding: Sendable {
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

    /// For single pages; nil for plaintext.
    func cipher() throws -> PageCipher? {
        if case .encrypted(let key, let format) = self { try PageCipher(key: key, format: format) } else { nil }
    }

    /// For one thread at a time.
    func codec() throws -> any PageCodec {
        switch self {
        case .plaintext(let pageSize): PlaintextCodec(pageSize: pageSize)
        case .encrypted(let key, let format): try EncryptedCodec(key: key, format: format)
        }
    }
}

/// Memory for the plaintext of some pages, which is wiped at its end.
final class PageBuffer {
    /// The most pages of a part of a batch.
    static let capacity = 32

    let pageSize: Int
    /// From one page to the next: a cache line more than a page, so that the same offset of all pages is not in one set of the cache.
    let stride: Int
    let bytes: UnsafeMutableRawBufferPointer

    init(pageSize: Int, capacity: Int = PageBuffer.capacity) {
        self.pageSize = pageSize
        stride = pageSize + 64
        bytes = .allocate(byteCount: stride * capacity, alignment: 64)
    }

    deinit {
        Cryptography.cleanse(bytes)
        bytes.deallocate()
    }

    func page(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[(index * stride)...].prefix(pageSize))
    }
}

/// The pages of a database that is not encrypted.
private final class PlaintextCodec: PageCodec {
    private let pageSize: Int

    init(pageSize: Int) {
        self.pageSize = pageSize
    }

    func open(_ batch: PagePipeline.Batch, into plaintext: PageBuffer) throws {
        var index = 0
        try batch.forEach { page, number in
            guard page.count == pageSize else { throw UnauthenticPage(number: Int(number)) }
            plaintext.page(index).copyMemory(from: page)
            index += 1
        }
    }

    func seal(_ plaintext: PageBuffer, first: UInt32, count: Int, into pages: UnsafeMutableRawBufferPointer) {
        for index in 0..<count {
            let page = UnsafeMutableRawBufferPointer(rebasing: pages[(index * pageSize)...].prefix(pageSize))
            if LockBytePage.isPage(first + UInt32(index), ofSize: pageSize) {
                page.initializeMemory(as: UInt8.self, repeating: 0)
            } else {
                page.copyMemory(from: UnsafeRawBufferPointer(plaintext.page(index)))
            }
        }
    }
}
