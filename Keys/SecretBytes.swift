/// Secret bytes in locked memory: a passphrase or a key.
///
/// They live in locked pages of their own, which are left out of core dumps and wiped whole when the last copy of this
/// value goes. They can be read only inside ``withUnsafeBytes(_:)``, and only in the process that made them: a forked child does
/// not have them, and each use there throws ``UsedAfterFork``. Printing, dumping or mirroring shows their count only.
public struct SecretBytes: Sendable {
    private let memory: SecretMemory

    /// A secret of `count` bytes, written in place by `fill`.
    ///
    /// The buffer is zero when `fill` gets it.
    ///
    /// - Throws: what `fill` throws, after wiping; ``SecretMemoryError``.
    public init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        memory = try SecretMemory(count: count, fill: fill)
    }

    /// A copy of `bytes`. What the caller holds is the caller's to wipe.
    ///
    /// - Throws: ``SecretMemoryError``.
    public init(copying bytes: UnsafeRawBufferPointer) throws {
        try self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// A copy of `bytes`. What the caller holds is the caller's to wipe.
    ///
    /// - Throws: ``SecretMemoryError``.
    public init(copying bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// The UTF-8 bytes of `text`.
    ///
    /// A `String` cannot be wiped: its own copies stay in the process until the memory is used again. Where that matters,
    /// read the secret from a ``KeySource`` or fill it in place.
    ///
    /// - Throws: ``SecretMemoryError``.
    public init(utf8 text: String) throws {
        var text = text
        self = try text.withUTF8 { try SecretBytes(copying: UnsafeRawBufferPointer($0)) }
    }

    /// A secret of `count` random bytes from OpenSSL's generator.
    ///
    /// - Throws: ``SecretMemoryError``, ``OpenSSLError``.
    public static func random(count: Int) throws -> SecretBytes {
        try SecretBytes(count: count) { try Cryptography.randomize($0) }
    }

    /// A copy of the first `count` bytes.
    package func prefix(_ count: Int) throws -> SecretBytes {
        try withUnsafeBytes { try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// The number of bytes.
    public var count: Int { memory.count }

    /// Whether the system keeps these bytes out of swap; it refuses beyond the process's `RLIMIT_MEMLOCK`.
    public var isLocked: Bool { memory.isLocked }

    /// Gives the bytes to `body`; the pointer is good until `body` returns.
    ///
    /// - Throws: what `body` throws; ``UsedAfterFork`` in a child of the process that made the secret.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        // The memory must outlive the call, whatever the optimiser knows about this value's last use.
        defer { withExtendedLifetime(memory) {} }
        return try body(memory.bytes)
    }

    /// Whether both have the same bytes, in a time that does not depend on where they differ; their counts are not secret.
    ///
    /// - Throws: ``UsedAfterFork`` in a child of the process that made one of them.
    public static func == (left: SecretBytes, right: SecretBytes) throws -> Bool {
        try left.withUnsafeBytes { left in try right.withUnsafeBytes { Cryptography.constantTimeEqual(left, $0) } }
    }
}

extension SecretBytes: Redacted {
    /// The count and nothing of the bytes.
    public var description: String { "SecretBytes(\(count) bytes, redacted)" }
}

/// A value with a secret in it: `print`, `debugPrint` and `dump` show its description, which has none.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows the description only.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
