internal import COpenSSL
package import CipherKeys

/// Authenticates and decrypts the pages of one database, offline.
///
/// The layout, for pages of P bytes with a reserve of R and an HMAC of H:
///
///     page 1:  salt[16] | ciphertext[16 ..< P-R] | vector[16] | HMAC[H] | padding
///     page n:             ciphertext[ 0 ..< P-R] | vector[16] | HMAC[H] | padding
///
/// AES-256-CBC without padding; `HMAC(hmac key, ciphertext || vector || page number, 4 bytes, little endian)`.
package final class PageCipher {
    package let format: CipherFormat
    private let key: DerivedKey
    private let authenticationKey: SecretBytes
    private let mac: OpaquePointer?
    private let cipher: OpaquePointer

    package init(key: DerivedKey, format: CipherFormat) throws {
        self.key = key
        self.format = format
        authenticationKey = try KeyDerivation.pageAuthenticationKey(for: key, format: format)
        guard let cipher = EVP_CIPHER_CTX_new() else { throw OpenSSLError(operation: "EVP_CIPHER_CTX_new") }
        guard format.pageAuthentication != nil else {
            self.cipher = cipher
            mac = nil
            return
        }
        let algorithm = EVP_MAC_fetch(nil, "HMAC", nil)
        guard let mac = EVP_MAC_CTX_new(algorithm) else {
            EVP_MAC_free(algorithm)
            EVP_CIPHER_CTX_free(cipher)
            throw OpenSSLError(operation: "EVP_MAC_CTX_new")
        }
        EVP_MAC_free(algorithm)
        self.cipher = cipher
        self.mac = mac
    }

    deinit {
        EVP_CIPHER_CTX_free(cipher)
        EVP_MAC_CTX_free(mac)
    }

    /// Whether `page`, as it is in the file, is what was written as page `number` under this key.
    /// Nil in formats that do not authenticate pages.
    package func isAuthentic(_ page: some Collection<UInt8>, number: UInt32) throws -> Bool? {
        guard let algorithm = format.pageAuthentication else { return nil }
        guard page.count == format.pageSize else { return false }
        return try [UInt8](page).withUnsafeBytes { page in
            var code = [UInt8](repeating: 0, count: algorithm.digestSize)
            let start = number == 1 ? CipherFormat.saltSize : 0
            let end = format.pageSize - format.reserve + CipherFormat.vectorSize
            try authenticate(
                UnsafeRawBufferPointer(rebasing: page[start..<end]),
                number: number,
                algorithm: algorithm,
                into: &code
            )
            let stored = UnsafeRawBufferPointer(rebasing: page[end..<(end + algorithm.digestSize)])
            return code.withUnsafeBytes { OpenSSL.constantTimeEqual($0, stored) }
        }
    }

    /// The plaintext of `page`, as SQLite sees it: with its own header on page 1, and zeros in the reserve.
    package func decrypt(_ page: some Collection<UInt8>, number: UInt32) throws -> [UInt8] {
        guard page.count == format.pageSize else { throw UnusableCipherFormat.pageSize(page.count) }
        let page = [UInt8](page)
        let start = number == 1 ? CipherFormat.saltSize : 0
        let end = format.pageSize - format.reserve
        var plain = [UInt8](repeating: 0, count: format.pageSize)
        if number == 1 { plain.replaceSubrange(0..<16, with: FileKind.plaintextHeader) }
        let vector = Array(page[end..<(end + CipherFormat.vectorSize)])
        var written: Int32 = 0
        let done = key.withPageKey { key in
            page.withUnsafeBufferPointer { page in
                plain.withUnsafeMutableBufferPointer { plain in
                    EVP_DecryptInit_ex(
                        cipher,
                        EVP_aes_256_cbc(),
                        nil,
                        key.baseAddress!.assumingMemoryBound(to: UInt8.self),
                        vector
                    ) == 1
                        && EVP_CIPHER_CTX_set_padding(cipher, 0) == 1
                        && EVP_DecryptUpdate(
                            cipher,
                            plain.baseAddress! + start,
                            &written,
                            page.baseAddress! + start,
                            Int32(end - start)
                        )
                            == 1
                }
            }
        }
        guard done, Int(written) == end - start else { throw OpenSSLError(operation: "EVP_DecryptUpdate") }
        return plain
    }

    /// Whether `page` is a first page under this key: by its HMAC, or in format 1 by the fields of the decrypted header.
    package func opensFirstPage(_ page: some Collection<UInt8>) throws -> Bool {
        guard page.count == format.pageSize else { return false }
        if let authentic = try isAuthentic(page, number: 1) { return authentic }
        let header = try decrypt(page, number: 1)
        // > offset 16: the page size, 1 for 65536; 20: reserved bytes; 21, 22, 23: must be 64, 32 and 32
        // SQLCipher 4 reserves more than format 1 needs in the files that it makes itself.
        let size = Int(header[16]) << 8 | Int(header[17])
        return (size == 1 ? 65536 : size) == format.pageSize && Int(header[20]) >= format.reserve
            && Array(header[21...23]) == [64, 32, 32]
    }

    private func authenticate(
        _ bytes: UnsafeRawBufferPointer,
        number: UInt32,
        algorithm: HashAlgorithm,
        into code: inout [UInt8]
    ) throws {
        var pageNumber = number.littleEndian
        let done = authenticationKey.withUnsafeBytes { key in
            initialize(key, algorithm: algorithm)
                && EVP_MAC_update(mac, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), bytes.count) == 1
                && withUnsafeBytes(of: &pageNumber) {
                    EVP_MAC_update(mac, $0.baseAddress!.assumingMemoryBound(to: UInt8.self), $0.count)
                } == 1
                && EVP_MAC_final(mac, &code, nil, code.count) == 1
        }
        guard done else { throw OpenSSLError(operation: "EVP_MAC") }
    }

    private func initialize(_ key: UnsafeRawBufferPointer, algorithm: HashAlgorithm) -> Bool {
        var name = Array(algorithm.rawValue.utf8CString)
        return name.withUnsafeMutableBufferPointer { name in
            let parameters = [
                OSSL_PARAM_construct_utf8_string(copenssl_mac_digest_parameter(), name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_init(mac, key.baseAddress!.assumingMemoryBound(to: UInt8.self), key.count, parameters) == 1
        }
    }
}
