internal import CCipherOpenSSL

/// A SHA-256 digest (FIPS 180-4), 32 bytes.
package struct Digest: Hashable, Sendable {
    // Not an array: a database has one for each of its pages.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package static let size = 32

    /// 32 zeros.
    package init() {}

    /// The first 32 bytes of `bytes`.
    package init(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes.prefix(Digest.size)) }
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: words) { try body($0) }
    }

    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    package static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest: CustomStringConvertible {
    /// 64 hexadecimal digits.
    package var description: String { bytes.hexadecimal }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte; not for secrets.
    package var hexadecimal: String {
        String(decoding: flatMap { [$0 >> 4, $0 & 15].map { $0 + ($0 < 10 ? 0x30 : 0x57) } }, as: UTF8.self)
    }
}

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
