internal import CipherSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Pages of their own for one secret, ``SecretPages``, which are wiped whole before they are given back.
///
/// Unchecked because of the pointer: the bytes are written only by the initialiser and read-only from then on.
final class SecretMemory: @unchecked Sendable {
    /// 64 MiB: far above any key or passphrase, and within what the system's calls take.
    private static let largest = 64 << 20

    let count: Int
    private let pages: SecretPages
    private let onRelease: ((UnsafeRawBufferPointer) -> Void)?

    /// - Parameter onRelease: Sees the pages after they were wiped and before they are given back; for tests.
    init(
        count: Int,
        fill: (UnsafeMutableRawBufferPointer) throws -> Void,
        onRelease: ((UnsafeRawBufferPointer) -> Void)? = nil
    ) throws {
        guard (0...SecretMemory.largest).contains(count) else { throw SecretMemoryError(count: count) }
        pages = try KeptSecretPages.shared.take(count: count)
        self.count = count
        self.onRelease = onRelease
        // A throw from here on still runs deinit: every stored property is set.
        try fill(UnsafeMutableRawBufferPointer(rebasing: pages.usable[..<count]))
    }

    deinit {
        if pages.isMapped { Cryptography.cleanse(pages.usable) }
        onRelease?(UnsafeRawBufferPointer(pages.usable))
        KeptSecretPages.shared.giveBack(pages)
    }

    /// Whether the system locked the pages; it refuses beyond `RLIMIT_MEMLOCK`. Locks do not go to a forked child.
    var isLocked: Bool { pages.isLocked && pages.owner.isCurrent }

    /// Throws in a forked child, which would read zeros.
    var bytes: UnsafeRawBufferPointer {
        get throws(UsedAfterFork) {
            try pages.owner.check(.secret)
            return UnsafeRawBufferPointer(rebasing: pages.usable[..<count])
        }
    }
}

/// Whole pages for a secret, filled with zeros: locked against swapping, left out of core dumps and of forked children where the
/// system can do that, between two inaccessible pages.
struct SecretPages: @unchecked Sendable {
    // Safe because they are one secret's, or kept for the next one.
    let usable: UnsafeMutableRawBufferPointer
    /// Whether the system locked them; it refuses beyond `RLIMIT_MEMLOCK`.
    var isLocked: Bool
    /// The process that locked them: a forked child has them too, not locked, and filled with zeros; see ``isMapped``.
    let owner = OwnerProcess()
    private let mapping: UnsafeMutableRawPointer
    private let mappingSize: Int

    /// Maps enough pages for `count` bytes.
    init(count: Int) throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let usableSize = max(1, (count + page - 1) / page) * page
        mappingSize = usableSize + 2 * page
        guard let mapping = mmap(nil, mappingSize, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0), mapping != MAP_FAILED
        else { throw SecretMemoryError(count: count) }
        self.mapping = mapping
        usable = UnsafeMutableRawBufferPointer(start: mapping + page, count: usableSize)
        guard mprotect(mapping + page, usableSize, PROT_READ | PROT_WRITE) == 0 else {
            munmap(mapping, mappingSize)
            throw SecretMemoryError(count: count)
        }
        isLocked = mlock(mapping + page, usableSize) == 0
        #if os(Linux)
            madvise(mapping + page, usableSize, Int32(MADV_DONTDUMP))
            madvise(mapping + page, usableSize, Int32(MADV_WIPEONFORK))
        #elseif canImport(Darwin)
            minherit(mapping + page, usableSize, Int32(VM_INHERIT_NONE))
        #endif
    }

    /// Whether this process has them: on Apple's systems a forked child has not, and may have others at their place.
    var isMapped: Bool {
        #if canImport(Darwin)
            owner.isCurrent
        #else
            true
        #endif
    }

    /// Gives them back to the system.
    func unmap() {
        guard isMapped else { return }
        munlock(usable.baseAddress!, usable.count)
        munmap(mapping, mappingSize)
    }
}

/// Pages that held a secret, were wiped, and serve the next one. Mapping and locking takes six system calls, a third of the time in
/// which a connection is opened.
final class KeptSecretPages: Sendable {
    static let shared = KeptSecretPages()

    /// As many as the keys of a connection that is being opened; they count against `RLIMIT_MEMLOCK`.
    static let most = 4
    /// One page each: what is longer than that is rare.
    private let kept = Lock([SecretPages]())

    /// How many there are now.
    var count: Int { kept.withLock { $0.count } }

    /// Pages that are zero, with room for `count` bytes.
    func take(count: Int) throws -> SecretPages {
        let found = kept.withLockIfFree { kept -> SecretPages? in
            guard let last = kept.last, count <= last.usable.count else { return nil }
            kept.removeLast()
            return last
        }
        guard let pages = found ?? nil else { return try SecretPages(count: count) }
        guard pages.owner.isCurrent else {
            pages.unmap()
            return try SecretPages(count: count)
        }
        return pages
    }

    /// Takes pages that were wiped.
    func giveBack(_ pages: SecretPages) {
        let isKept = kept.withLockIfFree { kept in
            guard kept.count < KeptSecretPages.most, pages.isLocked, pages.owner.isCurrent,
                pages.usable.count == Int(sysconf(Int32(_SC_PAGESIZE)))
            else { return false }
            kept.append(pages)
            return true
        }
        if isKept != true { pages.unmap() }
    }
}

/// No memory could be allocated for a secret.
public struct SecretMemoryError: DescribedError, Equatable {
    /// The bytes asked for.
    public let count: Int

    /// A sentence with the count.
    public var description: String {
        "no memory for a secret of \(count) bytes; 0 to 64 MiB are possible"
    }
}
