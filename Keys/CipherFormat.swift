/// The format of a SQLCipher database: page size, KDF, MAC, and the plaintext of the first page.
///
/// SQLCipher names its formats after its major versions; each is a set of defaults, and a pragma changes each of them for a file. A file
/// does not say which format it has: it must be known or tried.
public struct CipherFormat: Sendable {
    /// Bytes in a page, a power of two from 512 to 65,536 (`cipher_page_size`).
    public package(set) var pageSize: Int
    /// The hash of the PBKDF2 that makes the page key from a passphrase, and the HMAC key from the page key (`cipher_kdf_algorithm`).
    public package(set) var keyDerivation: HashAlgorithm
    /// Iterations of the PBKDF2 that makes the page key from a passphrase (`kdf_iter`).
    public package(set) var iterations: Int
    /// The hash of the HMAC over each page; nil where pages are not authenticated (`cipher_hmac_algorithm`, `cipher_use_hmac`).
    public package(set) var pageAuthentication: HashAlgorithm?
    /// How the page number is written that each MAC covers (`cipher_hmac_pgno`).
    public package(set) var pageNumberOrder = PageNumberOrder.littleEndian
    /// Each byte of the salt of the HMAC key is the file's XOR this one (`cipher_hmac_salt_mask`).
    public package(set) var macSaltMask = CipherFormat.usualMask
    /// Iterations of the PBKDF2 that makes the HMAC key from the page key (`fast_kdf_iter`).
    public package(set) var macKeyIterations = CipherFormat.usualMACKeyIterations
    /// The hash of that PBKDF2; nil for ``keyDerivation``'s, as SQLCipher has it. SQLite3 Multiple Ciphers can take the MAC's
    /// (`hmac_algorithm_compat = 0`).
    public package(set) var macKeyDerivation: HashAlgorithm?
    /// The bytes at the beginning of the file that are not encrypted and not authenticated, in multiples of 16
    /// (`cipher_plaintext_header_size`). With 0 the salt stands there; else the salt is not in the file.
    public package(set) var plaintextHeaderSize = 0

    /// The parameters that may be weaker in a new file than the version's: each by an `unsafe…` property.
    package var allowedWeaknesses: Set<Weakness> = []
    /// Whether this stands for any format; see ``any``.
    package internal(set) var isAny = false

    private init(
        pageSize: Int,
        keyDerivation: HashAlgorithm,
        iterations: Int,
        pageAuthentication: HashAlgorithm?
    ) {
        self.pageSize = pageSize
        self.keyDerivation = keyDerivation
        self.iterations = iterations
        self.pageAuthentication = pageAuthentication
    }

    /// SQLCipher 1: 4,000 iterations of HMAC-SHA1, pages not authenticated.
    public static let v1 = CipherFormat(
        pageSize: 1024,
        keyDerivation: .sha1,
        iterations: 4000,
        pageAuthentication: nil
    )
    /// SQLCipher 2: 4,000 iterations of HMAC-SHA1, pages authenticated by HMAC-SHA1.
    public static let v2 = CipherFormat(
        pageSize: 1024,
        keyDerivation: .sha1,
        iterations: 4000,
        pageAuthentication: .sha1
    )
    /// SQLCipher 3: 64,000 iterations of HMAC-SHA1, pages authenticated by HMAC-SHA1.
    public static let v3 = CipherFormat(
        pageSize: 1024,
        keyDerivation: .sha1,
        iterations: 64000,
        pageAuthentication: .sha1
    )
    /// SQLCipher 4: 256,000 iterations of HMAC-SHA512, pages authenticated by HMAC-SHA512.
    public static let v4 = CipherFormat(
        pageSize: 4096,
        keyDerivation: .sha512,
        iterations: 256_000,
        pageAuthentication: .sha512
    )

    /// The four formats with SQLCipher's defaults, newest first.
    public static let standard: [CipherFormat] = [.v4, .v3, .v2, .v1]

    /// Whatever format the file has: it is searched for when the file is opened. A new file gets the engine's own.
    ///
    /// The search takes about twice the time of one derivation where the format is one of ``standard``, and up to half a second more where
    /// it is another, or the key is wrong.
    public static let any: CipherFormat = {
        var format = CipherFormat.v4
        format.isAny = true
        return format
    }()

    /// The page sizes that SQLite has: the powers of two from 512 to 65,536 bytes.
    package static let pageSizes: [Int] = (9...16).map { 1 << $0 }

    /// Bytes at the end of each page that SQLite does not use: the IV, the HMAC, and padding.
    ///
    /// > R = 16 + HMAC, rounded up to the cipher's block of 16 bytes
    public var reserve: Int {
        let used = CipherFormat.ivSize + (pageAuthentication?.digestSize ?? 0)
        return (used + 15) / 16 * 16
    }

    /// Where the ciphertext of page 1 begins, behind the salt or the plaintext header. What is before it has no MAC.
    package var firstPageStart: Int { plaintextHeaderSize == 0 ? CipherFormat.saltSize : plaintextHeaderSize }

    /// Where the MAC of a page begins, behind the ciphertext and the IV, which it covers.
    package var macStart: Int { pageSize - reserve + CipherFormat.ivSize }

    /// Bytes of the salt, which are the first bytes of the file unless that has a plaintext header.
    package static let saltSize = 16

    /// A salt for a new file.
    package static func newSalt() throws -> [UInt8] {
        try SecretBytes.random(count: saltSize).withUnsafeBytes { Array($0) }
    }

    /// Bytes of the key that pages are encrypted with (AES-256).
    package static let keySize = 32
    /// Bytes of a page's IV (AES's block).
    package static let ivSize = 16

    // sqlcipher.c: HMAC_SALT_MASK and FAST_PBKDF2_ITER. The mask only keeps the two salts apart; it is no secret.
    package static let usualMask: UInt8 = 0x3a
    package static let usualMACKeyIterations = 2
}

/// The version of SQLCipher that a format is named after.
extension CipherFormat {
    /// SQLCipher's major version whose format this is, 1 to 4; with other parameters the one that differs in the fewest of them.
    public var version: Int {
        let versions = CipherFormat.standard.enumerated().map { index, format in
            (version: CipherFormat.standard.count - index, distance: distance(to: format))
        }
        return versions.min { $0.distance < $1.distance }?.version ?? CipherFormat.standard.count
    }

    /// The version's own format.
    package var own: CipherFormat { CipherFormat.standard[CipherFormat.standard.count - version] }

    /// The format of a major version of SQLCipher.
    package static func standard(version: Int) throws(UnusableCipherFormat) -> CipherFormat {
        guard (1...standard.count).contains(version) else { throw .version(version) }
        return standard[standard.count - version]
    }

    /// How many parameters that tell the versions apart are different; the page size, which files often have of their own, counts half.
    private func distance(to other: CipherFormat) -> Int {
        let others = [
            keyDerivation != other.keyDerivation, iterations != other.iterations,
            pageAuthentication != other.pageAuthentication,
        ]
        return 2 * others.count { $0 } + (pageSize == other.pageSize ? 0 : 1)
    }
}

extension CipherFormat: Hashable {
    /// Whether both describe the same files.
    public static func == (first: CipherFormat, second: CipherFormat) -> Bool { first.identity == second.identity }

    /// Hashes all parameters.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    private struct Identity: Hashable {
        let numbers: [Int]
        let hashes: [HashAlgorithm?]
        let order: PageNumberOrder
    }

    private var identity: Identity {
        Identity(
            numbers: [
                pageSize, iterations, Int(macSaltMask), macKeyIterations, plaintextHeaderSize, isAny ? 1 : 0,
            ],
            hashes: [keyDerivation, pageAuthentication, macKeyDerivation ?? keyDerivation],
            order: pageNumberOrder
        )
    }
}

/// The order of the bytes of a page number.
public enum PageNumberOrder: String, Sendable, Hashable, CaseIterable {
    /// The least significant byte first: SQLCipher's default since 2.0.
    case littleEndian = "le"
    /// The most significant byte first.
    case bigEndian = "be"

    /// The order of this machine, as `cipher_hmac_pgno = native` has it.
    package static var native: PageNumberOrder { 1.littleEndian == 1 ? .littleEndian : .bigEndian }
}
