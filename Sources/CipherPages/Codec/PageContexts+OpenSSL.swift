#if OpenSSL
    internal import CCipherOpenSSL
    internal import CipherKeys

    /// An HMAC with one key. OpenSSL wipes it when it is freed. For one thread at a time.
    struct MACContext: ~Copyable {
        private let context: OpaquePointer
        private let size: Int

        init(_ key: UnsafeRawBufferPointer, _ algorithm: HashAlgorithm) throws {
            let hmac = EVP_MAC_fetch(nil, "HMAC", nil)
            defer { EVP_MAC_free(hmac) }
            guard let context = EVP_MAC_CTX_new(hmac) else { throw OpenSSLError(operation: "EVP_MAC_CTX_new") }
            var name = Array(algorithm.rawValue.utf8CString)
            let done = name.withUnsafeMutableBufferPointer { name in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(copenssl_mac_digest_parameter(), name.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, key.bytes(at: 0), key.count, parameters)
            }
            guard done == 1 else {
                EVP_MAC_CTX_free(context)
                throw OpenSSLError(operation: "EVP_MAC_init")
            }
            self.context = context
            size = algorithm.digestSize
        }

        deinit {
            EVP_MAC_CTX_free(context)
        }

        /// Writes the code of two pieces of bytes, one after the other; false where OpenSSL fails.
        func compute(
            _ first: UnsafeRawBufferPointer,
            _ second: UnsafeRawBufferPointer,
            into result: UnsafeMutablePointer<UInt8>
        ) -> Bool {
            // Without a key the context begins again under the one it has.
            EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, first.bytes(at: 0), first.count) == 1
                && (second.isEmpty || EVP_MAC_update(context, second.bytes(at: 0), second.count) == 1)
                && EVP_MAC_final(context, result, nil, size) == 1
        }
    }

    /// AES-256 of whole blocks with one key, in one direction. OpenSSL wipes it when it is freed. For one thread at a time.
    struct CipherContext: ~Copyable {
        enum Mode { case cbc, ecb }

        private let context: OpaquePointer
        private let direction: Int32

        /// - Parameter key: 32 bytes.
        init(_ key: UnsafeRawBufferPointer, _ mode: Mode, isEncrypting: Bool) throws {
            guard key.count == 32, let context = EVP_CIPHER_CTX_new() else {
                throw OpenSSLError(operation: "EVP_CIPHER_CTX_new")
            }
            let direction: Int32 = isEncrypting ? 1 : 0
            let cipher = mode == .cbc ? EVP_aes_256_cbc() : EVP_aes_256_ecb()
            guard
                EVP_CipherInit_ex(context, cipher, nil, key.bytes(at: 0), nil, direction) == 1,
                EVP_CIPHER_CTX_set_padding(context, 0) == 1
            else {
                EVP_CIPHER_CTX_free(context)
                throw OpenSSLError(operation: "EVP_CipherInit_ex")
            }
            self.direction = direction
            self.context = context
        }

        deinit {
            EVP_CIPHER_CTX_free(context)
        }

        /// Writes as many bytes as it reads; false where OpenSSL fails.
        ///
        /// - Parameter iv: 16 bytes in CBC; nil in ECB.
        func run(
            iv: UnsafePointer<UInt8>?,
            _ input: UnsafePointer<UInt8>,
            _ count: Int,
            into output: UnsafeMutablePointer<UInt8>
        ) -> Bool {
            var written: Int32 = 0
            return (iv == nil || EVP_CipherInit_ex(context, nil, nil, nil, iv, direction) == 1)
                && EVP_CipherUpdate(context, output, &written, input, Int32(count)) == 1
                && Int(written) == count
        }
    }
#endif
