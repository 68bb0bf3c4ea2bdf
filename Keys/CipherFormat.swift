/// The format of a SQLCipher database: page size, KDF and MAC.
///
/// SQLCipher names its formats after its major versions; each is a set of defaults for page size, key derivation and
/// page authentication. A file does not say which format it has: it must be known or tried.
public struct CipherFormat: Sendable, Hashable {
    /// SQLCipher's major version whose format this is or descends from, 1 to 4.
    public let version: Int
    /// Bytes in a page, a power of two from 512 to 65,536.
    public private(set) var pageSize: Int
    /// The hash of the PBKDF2 that makes the page key from a passphrase, and the HMAC key from the page key.
    public let keyDerivation: HashAlgorithm
    /// Iterations of the PBKDF2 that makes the page key from a passphrase.
    public private(set) var iterations: Int
    /// The hash of the HMAC over each page; nil where pages are not authenticated (format 1).
    public let pageAuthentication: HashAlgorithm?

    private init(
        version: Int,
        pageSize: Int,
        keyDerivation: HashAlgorithm,
        iterations: Int,
        pageAuthentication: HashAlgorithm?
    ) {
        self.version = version
        self.pageSize = pageSize
        self.keyDerivation = keyDerivation
        self.iterations = iterations
        self.pageAuthentication = pageAuthentication
    }

    /// SQLCipher 1: 4,000 iterations of HMAC-SHA1, pages not authenticated.
    public static let v1 = CipherFormat(
        version: 1,
        pageSize: 1024,
        keyDerivation: .sha1,
        iterations: 4000,
        pageAuthentication: nil
    )
    /// SQLCipher 2: 4,000 iterations of HMAC-SHA1, pages authenticated by HMAC-SHA1.
    public static let v2 = CipherFormat(
        version: 2,
        pageSize: 1024,
        keyDerivation: .sha1,
        iterations: 4000,
        pageAuthentication: .sha1
    )
    /// SQLCipher 3: 64,000 iterations of HMAC-SHA1, pages authenticated by HMAC-SHA1.
    public static let v3 = CipherFormat(
        version: 3,
        pageSize: 1024,
        keyDerivation: .sha1,
        iterations: 64000,
        pageAuthentication: .sha1
    )
    /// SQLCipher 4: 256,000 iterations of HMAC-SHA512, pages authenticated by HMAC-SHA512.
    public static let v4 = CipherFormat(
        version: 4,
        pageSize: 4096,
        keyDerivation: .sha512,
        iterations: 256_000,
        pageAuthentication: .sha512
    )

    /// The four formats with SQLCipher's defaults, newest first.
    public static let standard: [CipherFormat] = [.v4, .v3, .v2, .v1]

    /// The page sizes that SQLite has: the powers of two from 512 to 65,536 bytes.
    public static let pageSizes: [Int] = (9...16).map { 1 << $0 }

    /// This format with pages of another size.
    ///
    /// - Throws: ``UnusableCipherFormat`` for a size that is not in ``pageSizes``, and for 512 in the formats whose
    ///   reserve leaves too little of such a page.
    public func with(pageSize: Int) throws(UnusableCipherFormat) -> CipherFormat {
        // > The usable size is not allowed to be less than 480. (sqlite.org/fileformat.html, section 1.3.4)
        guard CipherFormat.pageSizes.contains(pageSize), pageSize - reserve >= 480 else { throw .pageSize(pageSize) }
        var format = self
        format.pageSize = pageSize
        return format
    }

    /// This format with another number of iterations for passphrases; a stock shell then needs the same `kdf_iter`.
    ///
    /// - Throws: ``UnusableCipherFormat`` for fewer than the format's own number, or more than ten million.
    public func with(iterations: Int) throws(UnusableCipherFormat) -> CipherFormat {
        let floor = CipherFormat.standard.first { $0.version == version }!.iterations
        return try with(iterations, least: floor)
    }

    /// This format with any number of iterations up to ten million, for files that were made with fewer than the format's
    /// own: passphrases can be tried faster on them. Migrate them.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(unsafeIterations iterations: Int) throws(UnusableCipherFormat) -> CipherFormat {
        try with(iterations, least: 1)
    }

    private func with(_ iterations: Int, least: Int) throws(UnusableCipherFormat) -> CipherFormat {
        guard (least...CipherFormat.mostIterations).contains(iterations) else {
            throw .iterations(iterations, least: least)
        }
        var format = self
        format.iterations = iterations
        return format
    }

    /// Ten million: several seconds. More would let a setting hang a program that opens the file.
    package static let mostIterations = 10_000_000

    /// Bytes at the end of each page that SQLite does not use: the initialisation vector, the HMAC, and padding.
    ///
    /// > R = 16 + HMAC, rounded up to the cipher's block of 16 bytes
    public var reserve: Int {
        let used = CipherFormat.ivSize + (pageAuthentication?.digestSize ?? 0)
        return (used + 15) / 16 * 16
    }

    /// Bytes of the salt, which are the first bytes of the file.
    public static let saltSize = 16
    /// Bytes of the key that pages are encrypted with (AES-256).
    public static let keySize = 32
    /// Bytes of a page's initialisation vector (AES's block).
    package static let ivSize = 16
}

extension CipherFormat: CustomStringConvertible {
    /// Such as `SQLCipher 4 (pages of 4096 bytes)`.
    public var description: String { "SQLCipher \(version) (pages of \(pageSize) bytes)" }
}

/// Invalid or refused parameters of a ``CipherFormat``.
public enum UnusableCipherFormat: Error, Equatable, CustomStringConvertible {
    /// Not a page size of SQLite, or too small for the format's reserve.
    case pageSize(Int)
    /// Weaker than the format's own default, or above ten million.
    case iterations(Int, least: Int)

    /// A raw key for a file of format 1, whose pages have no MACs: no later opening could prove the key.
    case rawKeyWithoutAuthentication

    /// A sentence naming the parameter and its bounds.
    public var description: String {
        switch self {
        case .rawKeyWithoutAuthentication:
            "format 1 has no MACs, so a raw key cannot be verified; use a passphrase, or migrate the file to another format first"
        case .pageSize(let size):
            "pages of \(size) bytes are not supported; use a power of two from 1024 to 65536"
        case .iterations(let iterations, let least):
            "\(iterations) iterations are out of bounds; use \(least) to \(CipherFormat.mostIterations)"
        }
    }
}
