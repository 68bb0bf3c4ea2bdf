internal import CCipherOpenSSL

/// libcrypto as the key layer uses it: only the files of this type import it.
package enum OpenSSL {
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

    /// PBKDF2 with HMAC (RFC 8018 section 5.2) into `output`.
    static func pbkdf2(
        _ algorithm: HashAlgorithm,
        password: UnsafeRawBufferPointer,
        salt: [UInt8],
        iterations: Int32,
        output: UnsafeMutableRawBufferPointer
    ) throws {
        let done = PKCS5_PBKDF2_HMAC(
            password.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(password.count),
            salt,
            Int32(salt.count),
            iterations,
            digest(algorithm),
            Int32(output.count),
            output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        )
        guard done == 1 else { throw OpenSSLError(operation: "PKCS5_PBKDF2_HMAC") }
    }

    private static func digest(_ algorithm: HashAlgorithm) -> OpaquePointer? {
        switch algorithm {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha512: EVP_sha512()
        }
    }
}

/// A function of libcrypto failed that fails only when the library is broken, out of memory or restricted by policy.
public struct OpenSSLError: Error, CustomStringConvertible {
    /// The function that failed, by its C name.
    public let operation: String

    package init(operation: String) {
        self.operation = operation
    }

    /// A sentence naming the function.
    public var description: String {
        "OpenSSL's \(operation) failed; the library may be out of memory or restricted by its configuration"
    }
}
