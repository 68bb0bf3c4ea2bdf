internal import CipherKeys

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
        OpenSSL.cleanse(bytes)
        bytes.deallocate()
    }

    func page(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[(index * stride)...].prefix(pageSize))
    }
}
