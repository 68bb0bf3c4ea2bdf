#if !OpenSSL
    internal import CCipherSystem
    internal import CommonCrypto
    internal import Darwin

    /// Apple's CommonCrypto as the key layer uses it, with the calls of `OpenSSL`.
    package enum Cryptography {
        package static let library = "CommonCrypto"
        package static let name = library
        /// That of OpenSSL, which is not in use.
        package static let version = "(none)"

        /// Overwrites `bytes` with zeros in a way that the optimiser may not remove.
        package static func cleanse(_ bytes: UnsafeMutableRawBufferPointer) {
            guard let base = bytes.baseAddress else { return }
            csystem_wipe(base, bytes.count)
        }

        /// Whether two buffers of one length are equal, in a time that does not depend on where they differ.
        package static func constantTimeEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
            guard left.count == right.count else { return false }
            guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
            return timingsafe_bcmp(leftBase, rightBase, left.count) == 0
        }

        /// Fills `bytes` from the system's generator.
        package static func randomize(_ bytes: UnsafeMutableRawBufferPointer) throws {
            guard let base = bytes.baseAddress else { return }
            try check(CCRandomGenerateBytes(base, bytes.count), "CCRandomGenerateBytes")
        }

        private static func check(_ status: CCCryptorStatus, _ operation: String) throws {
            guard status == CCCryptorStatus(kCCSuccess) else { throw OpenSSLError(operation: operation) }
        }
    }

    // MARK: Keys under keys, and digests

    extension Cryptography {
        /// AES key wrap (RFC 3394): `key` under the key encryption key `wrapping`, eight bytes longer. The key encryption key has
        /// 16, 24 or 32 bytes, the key a multiple of eight, and 16 at least.
        static func wrap(_ key: UnsafeRawBufferPointer, under wrapping: UnsafeRawBufferPointer) throws -> [UInt8] {
            guard key.count >= 16, key.count % 8 == 0, [16, 24, 32].contains(wrapping.count) else {
                throw OpenSSLError(operation: "AES key wrap")
            }
            var wrapped = [UInt8](repeating: 0, count: key.count + 8)
            var count = wrapped.count
            let status = CCSymmetricKeyWrap(
                CCWrappingAlgorithm(kCCWRAPAES),
                CCrfc3394_iv,
                CCrfc3394_ivLen,
                wrapping.octets,
                wrapping.count,
                key.octets,
                key.count,
                &wrapped,
                &count
            )
            guard status == kCCSuccess, count == wrapped.count else { throw OpenSSLError(operation: "AES key wrap") }
            return wrapped
        }

        /// The key that was wrapped; nil where `wrapped` was made under another key, or is not what was made.
        static func unwrap(_ wrapped: [UInt8], under wrapping: UnsafeRawBufferPointer) throws -> SecretBytes? {
            guard wrapped.count >= 24, wrapped.count % 8 == 0 else { return nil }
            guard [16, 24, 32].contains(wrapping.count) else { throw OpenSSLError(operation: "AES key wrap") }
            var isRight = false
            let key = try SecretBytes(count: wrapped.count - 8) { output in
                var count = output.count
                let status = CCSymmetricKeyUnwrap(
                    CCWrappingAlgorithm(kCCWRAPAES),
                    CCrfc3394_iv,
                    CCrfc3394_ivLen,
                    wrapping.octets,
                    wrapping.count,
                    wrapped,
                    wrapped.count,
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    &count
                )
                isRight = status == kCCSuccess && count == output.count
                if !isRight { cleanse(output) }
            }
            return isRight ? key : nil
        }

        /// HMAC (RFC 2104).
        static func hmac(_ algorithm: HashAlgorithm, key: UnsafeRawBufferPointer, _ message: [UInt8]) throws -> [UInt8]
        {
            var code = [UInt8](repeating: 0, count: algorithm.digestSize)
            CCHmac(algorithm.ofCommonCrypto, key.baseAddress, key.count, message, message.count, &code)
            return code
        }

        /// SHA-256 (FIPS 180-4).
        static func sha256(_ message: some Sequence<UInt8>) throws -> [UInt8] {
            try SHA256().digest(of: Array(message)).bytes
        }

        /// SHA-256 (FIPS 180-4) of one message after another. For one thread at a time.
        package final class SHA256 {
            private var context = CC_SHA256_CTX()

            package init() throws {
                CC_SHA256_Init(&context)
            }

            /// The digest of `bytes`; a message that was begun is discarded.
            package func digest(of bytes: UnsafeRawBufferPointer) throws -> Digest {
                CC_SHA256_Init(&context)
                try update(bytes)
                return try finish()
            }

            package func digest(of bytes: [UInt8]) throws -> Digest {
                try bytes.withUnsafeBytes { try digest(of: $0) }
            }

            /// Adds bytes to the message.
            package func update(_ bytes: UnsafeRawBufferPointer) throws {
                // It takes less than 4 GiB at once.
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
                    CC_SHA256_Update(&context, part.baseAddress, CC_LONG(part.count))
                    rest = rest.dropFirst(part.count)
                }
            }

            /// The digest of the message; the next one begins.
            package func finish() throws -> Digest {
                var bytes = [UInt8](repeating: 0, count: Digest.size)
                CC_SHA256_Final(&bytes, &context)
                CC_SHA256_Init(&context)
                return bytes.withUnsafeBytes { Digest($0) }
            }
        }
    }

    // MARK: Derivations

    extension Cryptography {
        /// PBKDF2 with HMAC (RFC 8018 section 5.2) into `output`.
        static func pbkdf2(
            _ algorithm: HashAlgorithm,
            password: UnsafeRawBufferPointer,
            salt: [UInt8],
            iterations: Int32,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            try salt.withUnsafeBytes {
                try pbkdf2(algorithm, password: password, salt: $0, iterations: iterations, output: output)
            }
        }

        private static func pbkdf2(
            _ algorithm: HashAlgorithm,
            password: UnsafeRawBufferPointer,
            salt: UnsafeRawBufferPointer,
            iterations: Int32,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            let function =
                switch algorithm {
                case .sha1: kCCPRFHmacAlgSHA1
                case .sha256: kCCPRFHmacAlgSHA256
                case .sha512: kCCPRFHmacAlgSHA512
                }
            // It refuses the address NULL, which an empty buffer may have.
            let status = withUnsafeBytes(of: UInt8(0)) { empty in
                CCKeyDerivationPBKDF(
                    CCPBKDFAlgorithm(kCCPBKDF2),
                    (password.baseAddress ?? empty.baseAddress)?.assumingMemoryBound(to: CChar.self),
                    password.count,
                    (salt.baseAddress ?? empty.baseAddress)?.assumingMemoryBound(to: UInt8.self),
                    salt.count,
                    CCPseudoRandomAlgorithm(function),
                    UInt32(iterations),
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    output.count
                )
            }
            try check(status, "CCKeyDerivationPBKDF")
        }

        /// HKDF (RFC 5869) into `output`.
        static func hkdf(
            _ algorithm: HashAlgorithm,
            key: UnsafeRawBufferPointer,
            salt: [UInt8],
            info: [UInt8],
            output: UnsafeMutableRawBufferPointer
        ) throws {
            try HKDF.derive(algorithm, key: key, salt: salt, info: info, output: output) { key, message, code in
                CCHmac(
                    algorithm.ofCommonCrypto,
                    key.baseAddress,
                    key.count,
                    message.baseAddress,
                    message.count,
                    code.baseAddress
                )
            }
        }

        /// scrypt (RFC 7914) into `output`.
        ///
        /// - Parameter memory: As with OpenSSL; the caller's bounds hold.
        static func scrypt(
            password: UnsafeRawBufferPointer,
            salt: [UInt8],
            cost: Int,
            blockSize: Int,
            parallelism: Int,
            memory: Int,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            try Scrypt.derive(
                password: password,
                salt: salt,
                cost: cost,
                blockSize: blockSize,
                parallelism: parallelism,
                output: output
            ) { try pbkdf2(.sha256, password: $0, salt: $1, iterations: 1, output: $2) }
        }

        /// Whether there is a derivation of this name; not `ARGON2ID`.
        static func hasDerivation(_ name: String) -> Bool { name != "ARGON2ID" }

        /// CommonCrypto does not have it: see ``hasDerivation(_:)``.
        static func argon2id(
            password: UnsafeRawBufferPointer,
            salt: [UInt8],
            kibibytes: Int,
            passes: Int,
            lanes: Int,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            throw UnusablePassphraseDerivation.unavailable(
                .argon2id(kibibytes: kibibytes, passes: passes, lanes: lanes)
            )
        }
    }

    extension HashAlgorithm {
        fileprivate var ofCommonCrypto: CCHmacAlgorithm {
            switch self {
            case .sha1: CCHmacAlgorithm(kCCHmacAlgSHA1)
            case .sha256: CCHmacAlgorithm(kCCHmacAlgSHA256)
            case .sha512: CCHmacAlgorithm(kCCHmacAlgSHA512)
            }
        }
    }

    extension UnsafeRawBufferPointer {
        fileprivate var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
    }
#endif
