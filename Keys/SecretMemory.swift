internal import CipherSystem

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
        OpenSSL.cleanse(pages.usable)
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
