internal import CipherSystem

#if Metrics
    internal import Dispatch
    internal import Metrics
#endif

/// Makes keys from passphrases.
package enum KeyDerivation {
    /// How many passphrases this process has derived, which is what opening costs.
    package static var passphraseCount: Int { derivations.load(ordering: .relaxed) }
    private static let derivations = Atomic(0)

    /// The KDFs, for the metric `cipherdb.key_derivation.duration`.
    enum Function: String {
        case pbkdf2 = "PBKDF2"
        case scrypt
        case argon2id = "Argon2id"
    }

    /// Runs `body`, which derives a key from a passphrase.
    static func noting<Result>(_ function: Function, _ body: () throws -> Result) rethrows -> Result {
        derivations.add(1)
        #if Metrics
            let timer = Timer(
                label: "cipherdb.key_derivation.duration",
                dimensions: [("function", function.rawValue)]
            )
            let begin = DispatchTime.now().uptimeNanoseconds
            defer { timer.recordNanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds - begin)) }
        #endif
        return try body()
    }

    /// PBKDF2 with HMAC (RFC 8018): `count` bytes from `password` and `salt`.
    ///
    /// - Parameter iterations: 1 to 2,147,483,647. What a passphrase deserves is in `CipherFormat`.
    /// - Throws: ``OpenSSLError``, or ``UnusableDerivation`` for numbers out of bounds.
    package static func pbkdf2(
        _ algorithm: HashAlgorithm,
        password: SecretBytes,
        salt: [UInt8],
        iterations: Int,
        count: Int
    ) throws -> SecretBytes {
        try password.withUnsafeBytes { password in
            try pbkdf2(algorithm, password: password, salt: salt, iterations: iterations, count: count)
        }
    }

    private static func pbkdf2(
        _ algorithm: HashAlgorithm,
        password: UnsafeRawBufferPointer,
        salt: [UInt8],
        iterations: Int,
        count: Int
    ) throws -> SecretBytes {
        guard let rounds = Int32(exactly: iterations), rounds > 0, count > 0, Int32(exactly: count) != nil,
            Int32(exactly: password.count) != nil, Int32(exactly: salt.count) != nil
        else { throw UnusableDerivation(iterations: iterations, count: count) }
        return try SecretBytes(count: count) {
            try Cryptography.pbkdf2(algorithm, password: password, salt: salt, iterations: rounds, output: $0)
        }
    }

    /// The key that authenticates pages: `hmac_key = PBKDF2(page key, salt XOR mask…, 2 iterations, 32 bytes)`.
    package static func pageAuthenticationKey(for key: DerivedKey, format: CipherFormat) throws -> SecretBytes {
        let salt = key.salt.map { $0 ^ format.macSaltMask }
        return try key.withPageKey { pageKey in
            try pbkdf2(
                format.macKeyDerivation ?? format.keyDerivation,
                password: pageKey,
                salt: salt,
                iterations: format.macKeyIterations,
                count: CipherFormat.keySize
            )
        }
    }
}

extension DatabaseKey {
    /// The page key for a file with this salt and format. A passphrase is derived here, which takes tens of
    /// milliseconds; a raw key is taken as it is. A salt that the key itself brings wins over the file's.
    ///
    /// - Parameter salt: The file's.
    package func derive(salt: [UInt8], format: CipherFormat) throws -> DerivedKey {
        let salt = saltInUse(salt, in: format)
        switch material {
        case .passphrase(let passphrase):
            let key = try KeyDerivation.noting(.pbkdf2) {
                try KeyDerivation.pbkdf2(
                    format.keyDerivation,
                    password: passphrase,
                    salt: salt,
                    iterations: format.iterations,
                    count: CipherFormat.keySize
                )
            }
            return DerivedKey(pageKey: key, salt: salt)
        case .raw(let key):
            return DerivedKey(pageKey: key, salt: salt)
        }
    }

    /// The salt of a file that begins with `bytes`.
    private func saltInUse(_ bytes: [UInt8], in format: CipherFormat) -> [UInt8] {
        guard format.plaintextHeaderSize > 0 else { return salt ?? bytes }
        // SQLCipher takes the first bytes of the file, which are no salt, where it is not given one.
        return saltBesideFile ?? bytes
    }

    /// The salt for a file that does not contain its own.
    package var saltBesideFile: [UInt8]? { salt ?? saltOfHeader }
}

/// The key that pages are encrypted with, and the salt of the file it belongs to: what every later connection needs,
/// without another derivation.
package struct DerivedKey: Sendable {
    private let pageKey: SecretBytes
    /// Not secret: a file shows it in its first 16 bytes.
    package let salt: [UInt8]

    fileprivate init(pageKey: SecretBytes, salt: [UInt8]) {
        self.pageKey = pageKey
        self.salt = salt
    }

    /// Whether both encrypt pages with the same 32 bytes and have the same salt.
    package static func == (first: DerivedKey, second: DerivedKey) throws -> Bool {
        try first.hasSamePageKey(as: second) && first.salt == second.salt
    }

    /// Whether both encrypt pages with the same 32 bytes, whatever their salts.
    package func hasSamePageKey(as other: DerivedKey) throws -> Bool { try pageKey == other.pageKey }

    /// Gives the 32 bytes of the page key to `body`.
    package func withPageKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        try pageKey.withUnsafeBytes(body)
    }

    /// The key and salt as SQLCipher takes them without deriving: `x'`, 96 hexadecimal digits, `'` (99 bytes).
    package func literal() throws -> SecretBytes {
        try pageKey.withUnsafeBytes { key in
            try SecretBytes(count: 2 * (key.count + salt.count) + 3) { text in
                text[0] = UInt8(ascii: "x")
                text[1] = UInt8(ascii: "'")
                Hexadecimal.encode(key, into: UnsafeMutableRawBufferPointer(rebasing: text[2...]))
                let rest = UnsafeMutableRawBufferPointer(rebasing: text[(2 + 2 * key.count)...])
                salt.withUnsafeBytes { Hexadecimal.encode($0, into: rest) }
                text[text.count - 1] = UInt8(ascii: "'")
            }
        }
    }
}

extension DerivedKey: Redacted {
    package var description: String { "DerivedKey(redacted)" }
}

/// A key, and what was derived from it, so that no passphrase is derived twice for one salt. For one thread at a time.
package final class DerivedKeys {
    private let key: DatabaseKey
    private var known: [(salt: [UInt8], format: CipherFormat, derived: DerivedKey)] = []

    /// Called before each derivation of a passphrase with the number of those that were made; what it throws ends the search.
    private let progress: ((Int) throws -> Void)?

    package init(_ key: DatabaseKey, progress: ((Int) throws -> Void)? = nil) {
        self.key = key
        self.progress = progress
    }

    /// As ``DatabaseKey/isPassphrase``.
    package var isPassphrase: Bool { key.isPassphrase }

    /// As ``DatabaseKey/spellsRawKey``.
    package var spellsRawKey: Bool { key.spellsRawKey }

    /// As ``DatabaseKey/saltBesideFile``.
    package var saltBesideFile: [UInt8]? { key.saltBesideFile }

    /// As ``DatabaseKey/derive(salt:format:)``.
    package func derive(salt: [UInt8], format: CipherFormat) throws -> DerivedKey {
        let found = known.first { $0.salt == salt && $0.format.hasSameDerivation(as: format) }
        if let found { return found.derived }
        if key.isPassphrase { try progress?(known.count) }
        let derived = try key.derive(salt: salt, format: format)
        known.append((salt, format, derived))
        return derived
    }

    /// A raw key with `salt` in place of the one that it brings; nil for a passphrase, and where the key brings none or the same.
    package func derive(inPlaceOfOwnSalt salt: [UInt8], format: CipherFormat) throws -> DerivedKey? {
        guard !key.isPassphrase, let own = key.salt, own != salt else { return nil }
        return try key.with(salt: salt).derive(salt: salt, format: format)
    }
}

extension CipherFormat {
    /// Whether a passphrase gives the same key in both: neither the page size nor the MAC is in the derivation, but a file with a plaintext
    /// header has another salt.
    package func hasSameDerivation(as other: CipherFormat) -> Bool {
        keyDerivation == other.keyDerivation && iterations == other.iterations
            && (plaintextHeaderSize > 0) == (other.plaintextHeaderSize > 0)
    }
}

/// Numbers that PBKDF2 cannot be run with.
package struct UnusableDerivation: Error, Equatable, CustomStringConvertible {
    /// The iterations asked for.
    package let iterations: Int
    /// The bytes asked for.
    package let count: Int

    /// A sentence with both numbers.
    package var description: String {
        "PBKDF2 cannot make \(count) bytes with \(iterations) iterations; both must be from 1 to \(Int32.max)"
    }
}
