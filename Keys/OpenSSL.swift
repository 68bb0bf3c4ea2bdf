#if OpenSSL
    internal import CCipherOpenSSL

    /// The library of cryptography that this build uses.
    package typealias Cryptography = OpenSSL

    /// libcrypto as the key layer uses it: only the files of this type import it.
    package enum OpenSSL {
        package static let library = "OpenSSL"
        /// Such as `OpenSSL 3.0.19`.
        package static var name: String { "\(library) \(version)" }

        /// The version of the libcrypto in this process, such as `3.0.19`.
        package static var version: String {
            String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
        }

        /// Overwrites `bytes` with zeros in a way that the optimiser may not remove.
        package static func cleanse(_ bytes: UnsafeMutableRawBufferPointer) {
            guard let base = bytes.baseAddress else { return }
            OPENSSL_cleanse(base, bytes.count)
        }

        /// Whether two buffers of one length are equal, in a time that does not depend on where they differ.
        package static func constantTimeEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
            guard left.count == right.count else { return false }
            guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
            return CRYPTO_memcmp(leftBase, rightBase, left.count) == 0
        }

        /// Fills `bytes` from OpenSSL's generator.
        package static func randomize(_ bytes: UnsafeMutableRawBufferPointer) throws {
            guard let base = bytes.baseAddress else { return }
            guard RAND_bytes(base.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) == 1 else {
                throw OpenSSLError(operation: "RAND_bytes")
            }
        }
    }

    extension OpenSSL {
        /// AES key wrap (RFC 3394): `key` under the key encryption key `wrapping`, eight bytes longer. The key encryption key has
        /// 16, 24 or 32 bytes, the key a multiple of eight, and 16 at least.
        static func wrap(_ key: UnsafeRawBufferPointer, under wrapping: UnsafeRawBufferPointer) throws -> [UInt8] {
            let context = try wrappingContext()
            defer { EVP_CIPHER_CTX_free(context) }
            var wrapped = [UInt8](repeating: 0, count: key.count + 8)
            var count: Int32 = 0
            guard key.count >= 16, key.count % 8 == 0, let cipher = wrappingCipher(wrapping.count),
                EVP_EncryptInit_ex(context, cipher, nil, wrapping.octets, nil) == 1,
                EVP_EncryptUpdate(context, &wrapped, &count, key.octets, Int32(key.count)) == 1,
                Int(count) == wrapped.count
            else { throw OpenSSLError(operation: "AES key wrap") }
            return wrapped
        }

        /// The key that was wrapped; nil where `wrapped` was made under another key, or is not what was made.
        static func unwrap(_ wrapped: [UInt8], under wrapping: UnsafeRawBufferPointer) throws -> SecretBytes? {
            guard wrapped.count >= 24, wrapped.count % 8 == 0 else { return nil }
            let context = try wrappingContext()
            defer { EVP_CIPHER_CTX_free(context) }
            guard let cipher = wrappingCipher(wrapping.count),
                EVP_DecryptInit_ex(context, cipher, nil, wrapping.octets, nil) == 1
            else { throw OpenSSLError(operation: "AES key wrap") }
            var isRight = false
            let key = try SecretBytes(count: wrapped.count - 8) { output in
                var count: Int32 = 0
                let place = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                // > If unwrapping fails, no plaintext is released.
                isRight =
                    EVP_DecryptUpdate(context, place, &count, wrapped, Int32(wrapped.count)) == 1
                    && Int(count) == output.count
            }
            ERR_clear_error()
            return isRight ? key : nil
        }

        /// HMAC (RFC 2104).
        static func hmac(_ algorithm: HashAlgorithm, key: UnsafeRawBufferPointer, _ message: [UInt8]) throws -> [UInt8]
        {
            var code = [UInt8](repeating: 0, count: algorithm.digestSize)
            var count = 0
            let done = EVP_Q_mac(
                nil,
                "HMAC",
                nil,
                algorithm.rawValue,
                nil,
                key.baseAddress,
                key.count,
                message,
                message.count,
                &code,
                code.count,
                &count
            )
            guard done != nil, count == code.count else { throw OpenSSLError(operation: "HMAC") }
            return code
        }

        /// SHA-256 (FIPS 180-4).
        static func sha256(_ message: some Sequence<UInt8>) throws -> [UInt8] {
            let message = Array(message)
            var digest = [UInt8](repeating: 0, count: HashAlgorithm.sha256.digestSize)
            guard EVP_Q_digest(nil, HashAlgorithm.sha256.rawValue, nil, message, message.count, &digest, nil) == 1
            else {
                throw OpenSSLError(operation: "SHA-256")
            }
            return digest
        }

        private static func wrappingContext() throws -> OpaquePointer {
            guard let context = EVP_CIPHER_CTX_new() else { throw OpenSSLError(operation: "EVP_CIPHER_CTX_new") }
            EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
            return context
        }

        private static func wrappingCipher(_ keySize: Int) -> OpaquePointer? {
            switch keySize {
            case 16: EVP_aes_128_wrap()
            case 24: EVP_aes_192_wrap()
            case 32: EVP_aes_256_wrap()
            default: nil
            }
        }
    }

    extension UnsafeRawBufferPointer {
        fileprivate var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
    }
#endif
