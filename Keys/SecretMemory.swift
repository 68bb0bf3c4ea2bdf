#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Pages of their own for one secret: locked against swapping, left out of core dumps and of forked children where the
/// system can do that, between two inaccessible pages, and wiped whole before they are given back.
///
/// Unchecked because of the pointer: the bytes are written only by the initialiser and read-only from then on.
final class SecretMemory: @unchecked Sendable {
    /// 64 MiB: far above any key or passphrase, and within what the system's calls take.
    private static let largest = 64 << 20

    let count: Int
    /// Whether the system locked the pages; it refuses beyond `RLIMIT_MEMLOCK`.
    let isLocked: Bool
    private let mapping: UnsafeMutableRawPointer
    private let mappingSize: Int
    private let usable: UnsafeMutableRawBufferPointer
    private let onRelease: ((UnsafeRawBufferPointer) -> Void)?

    /// - Parameter onRelease: Sees the pages after they were wiped and before they are given back; for tests.
    init(
        count: Int,
        fill: (UnsafeMutableRawBufferPointer) throws -> Void,
        onRelease: ((UnsafeRawBufferPointer) -> Void)? = nil
    ) throws {
        guard (0...SecretMemory.largest).contains(count) else { throw SecretMemoryError(count: count) }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let usableSize = max(1, (count + page - 1) / page) * page
        mappingSize = usableSize + 2 * page
        guard let mapping = mmap(nil, mappingSize, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0), mapping != MAP_FAILED
        else { throw SecretMemoryError(count: count) }
        self.mapping = mapping
        self.count = count
        self.onRelease = onRelease
        usable = UnsafeMutableRawBufferPointer(start: mapping + page, count: usableSize)
        guard mprotect(mapping + page, usableSize, PROT_READ | PROT_WRITE) == 0 else {
            munmap(mapping, mappingSize)
            throw SecretMemoryError(count: count)
        }
        isLocked = mlock(mapping + page, usableSize) == 0
        #if os(Linux)
            madvise(mapping + page, usableSize, Int32(MADV_DONTDUMP))
            madvise(mapping + page, usableSize, Int32(MADV_WIPEONFORK))
        #endif
        // A throw from here on still runs deinit: every stored property is set.
        try fill(UnsafeMutableRawBufferPointer(rebasing: usable[..<count]))
    }

    deinit {
        OpenSSL.cleanse(usable)
        onRelease?(UnsafeRawBufferPointer(usable))
        munlock(usable.baseAddress!, usable.count)
        munmap(mapping, mappingSize)
    }

    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: usable[..<count])
    }
}
