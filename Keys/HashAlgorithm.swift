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
