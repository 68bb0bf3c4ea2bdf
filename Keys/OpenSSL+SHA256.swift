#if OpenSSL
    internal import CCipherOpenSSL

    extension OpenSSL {
        /// SHA-256 (FIPS 180-4) of one message after another, by OpenSSL. For one thread at a time.
        package final class SHA256 {
            // OpenSSL looks up the algorithm once, not for each message.
            private let algorithm: OpaquePointer
            private let context: OpaquePointer

            package init() throws {
                guard let algorithm = EVP_MD_fetch(nil, HashAlgorithm.sha256.rawValue, nil) else {
                    throw OpenSSLError(operation: "EVP_MD_fetch")
                }
                guard let context = EVP_MD_CTX_new() else {
                    EVP_MD_free(algorithm)
                    throw OpenSSLError(operation: "EVP_MD_CTX_new")
                }
                self.algorithm = algorithm
                self.context = context
                try begin()
            }

            deinit {
                EVP_MD_CTX_free(context)
                EVP_MD_free(algorithm)
            }

            /// The digest of `bytes`; a message that was begun is discarded.
            package func digest(of bytes: UnsafeRawBufferPointer) throws -> Digest {
                try begin()
                try update(bytes)
                return try finish()
            }

            package func digest(of bytes: [UInt8]) throws -> Digest {
                try bytes.withUnsafeBytes { try digest(of: $0) }
            }

            /// Adds bytes to the message.
            package func update(_ bytes: UnsafeRawBufferPointer) throws {
                guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
                    throw OpenSSLError(operation: "EVP_DigestUpdate")
                }
            }

            /// The digest of the message; the next one begins.
            package func finish() throws -> Digest {
                let digest = try withUnsafeTemporaryAllocation(byteCount: Digest.size, alignment: 8) { output in
                    let place = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    guard EVP_DigestFinal_ex(context, place, nil) == 1 else {
                        throw OpenSSLError(operation: "EVP_DigestFinal_ex")
                    }
                    return Digest(UnsafeRawBufferPointer(output))
                }
                try begin()
                return digest
            }

            private func begin() throws {
                guard EVP_DigestInit_ex2(context, algorithm, nil) == 1 else {
                    throw OpenSSLError(operation: "EVP_DigestInit_ex2")
                }
            }
        }
    }
#endif
