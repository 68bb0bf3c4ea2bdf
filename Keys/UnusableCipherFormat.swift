/// Invalid or refused parameters of a ``CipherFormat``.
public enum UnusableCipherFormat: Error, Equatable, CustomStringConvertible {
    /// Not a page size of SQLite, or too small for the format's reserve.
    case pageSize(Int)
    /// Fewer than 1, or more than ten million.
    case iterations(Int, least: Int)
    /// Not a version of SQLCipher with a format of its own.
    case version(Int)
    /// Not a multiple of 16, or more than page 1 has room for; without MACs more than 80, because
    /// nothing would prove a key.
    case plaintextHeader(Int, most: Int)
    /// Weaker than the format's own; the property of ``CipherFormat/Parameters`` allows it all the same.
    case weak(String, property: String)
    /// Weaker than the format that the file has.
    case weaker(String, than: CipherFormat)
    /// A plaintext header and no salt: the file does not have it.
    case saltMissing
    /// A raw key for a file whose pages have no MACs: no later opening could prove the key.
    case rawKeyWithoutAuthentication

    /// A sentence naming the parameter and its bounds.
    public var description: String {
        switch self {
        case .pageSize(let size):
            "pages of \(size) bytes are not supported; use a power of two from 1024 to 65536; only files without MACs have 512"
        case .iterations(let iterations, let least):
            "\(iterations) iterations are out of bounds; use \(least) to \(CipherFormat.mostIterations)"
        case .version(let version):
            "SQLCipher has no format \(version); use 1 to 4"
        case .plaintextHeader(let size, let most):
            "a plaintext header of \(size) bytes is not possible; use a multiple of 16 up to \(most)"
        case .weak(let what, let property):
            "\(what) is weaker than the format's own and is not used for a new file; \(property) allows it"
        case .weaker(let what, let present):
            "the new format would be weaker: \(what), in place of \(present)"
        case .saltMissing:
            "a file with a plaintext header does not contain its salt; give the salt with the key"
        case .rawKeyWithoutAuthentication:
            "a raw key cannot be verified in a file without MACs; use a passphrase, or a format with MACs"
        }
    }
}
