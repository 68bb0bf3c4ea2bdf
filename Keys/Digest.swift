/// A SHA-256 digest (FIPS 180-4), 32 bytes.
package struct Digest: Hashable, Sendable {
    // Not an array: a database has one for each of its pages.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package static let size = 32

    /// 32 zeros.
    package init() {}

    /// The first 32 bytes of `bytes`.
    package init(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes.prefix(Digest.size)) }
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: words) { try body($0) }
    }

    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    package static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest: CustomStringConvertible {
    /// 64 hexadecimal digits.
    package var description: String { bytes.hexadecimal }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte; not for secrets.
    package var hexadecimal: String {
        String(decoding: flatMap { [$0 >> 4, $0 & 15].map { $0 + ($0 < 10 ? 0x30 : 0x57) } }, as: UTF8.self)
    }
}

/// The hash functions of SQLCipher's KDF and MACs.
public enum HashAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// SHA-1, 20 bytes: formats 1 to 3.
    case sha1 = "SHA1"
    /// SHA-256, 32 bytes.
    case sha256 = "SHA256"
    /// SHA-512, 64 bytes: format 4.
    case sha512 = "SHA512"

    /// The number of bytes in a digest, and so in an HMAC.
    package var digestSize: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }
}
