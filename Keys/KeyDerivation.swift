internal import Synchronization

#if Metrics
    internal import Dispatch
    internal import Metrics
#endif

/// Makes keys from passphrases, with OpenSSL.
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
        derivations.add(1, ordering: .relaxed)
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
            try OpenSSL.pbkdf2(algorithm, password: password, salt: salt, iterations: rounds, output: $0)
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
