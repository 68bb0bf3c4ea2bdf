internal import COpenSSL
package import CipherKeys

/// Authenticates, decrypts and encrypts the pages of one database, offline. For one thread at a time.
///
/// The layout, for pages of P bytes with a reserve of R and an HMAC of H:
///
///     page 1:  salt[16] | ciphertext[16 ..< P-R] | vector[16] | HMAC[H] | padding
///     page n:             ciphertext[ 0 ..< P-R] | vector[16] | HMAC[H] | padding
///
/// AES-256-CBC without padding; `HMAC(hmac key, ciphertext || vector || page number, 4 bytes, little endian)`.
package final class PageCipher {
    package let format: CipherFormat
    private let salt: [UInt8]
    // Each context holds its key; OpenSSL wipes it when the context is freed.
    private let mac: OpaquePointer?
    private let encryption: OpaquePointer
    private let decryption: OpaquePointer

    package init(key: DerivedKey, format: CipherFormat) throws {
        self.format = format
        salt = key.salt
        mac = try format.pageAuthentication.map { algorithm in
            try PageCipher.authentication(
                by: KeyDerivation.pageAuthenticationKey(for: key, format: format),
                algorithm
            )
        }
        // A pointer that stays nil would not be freed by a deinit that never runs.
        guard let encryption = EVP_CIPHER_CTX_new() else {
            EVP_MAC_CTX_free(mac)
            throw OpenSSLError(operation: "EVP_CIPHER_CTX_new")
        }
        guard let decryption = EVP_CIPHER_CTX_new() else {
            EVP_MAC_CTX_free(mac)
            EVP_CIPHER_CTX_free(encryption)
            throw OpenSSLError(operation: "EVP_CIPHER_CTX_new")
        }
        self.encryption = encryption
        self.decryption = decryption
        let done = key.withPageKey { key in
            let key = key.baseAddress!.assumingMemoryBound(to: UInt8.self)
            return EVP_EncryptInit_ex(encryption, EVP_aes_256_cbc(), nil, key, nil) == 1
                && EVP_DecryptInit_ex(decryption, EVP_aes_256_cbc(), nil, key, nil) == 1
                && EVP_CIPHER_CTX_set_padding(encryption, 0) == 1 && EVP_CIPHER_CTX_set_padding(decryption, 0) == 1
        }
        guard done else { throw OpenSSLError(operation: "EVP_CipherInit_ex") }
    }

    deinit {
        EVP_CIPHER_CTX_free(encryption)
        EVP_CIPHER_CTX_free(decryption)
        EVP_MAC_CTX_free(mac)
    }

    private static func authentication(by key: SecretBytes, _ algorithm: HashAlgorithm) throws -> OpaquePointer {
        let hmac = EVP_MAC_fetch(nil, "HMAC", nil)
        defer { EVP_MAC_free(hmac) }
        guard let mac = EVP_MAC_CTX_new(hmac) else { throw OpenSSLError(operation: "EVP_MAC_CTX_new") }
        var name = Array(algorithm.rawValue.utf8CString)
        let done = key.withUnsafeBytes { key in
            name.withUnsafeMutableBufferPointer { name in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(copenssl_mac_digest_parameter(), name.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(mac, key.baseAddress!.assumingMemoryBound(to: UInt8.self), key.count, parameters)
            }
        }
        guard done == 1 else {
            EVP_MAC_CTX_free(mac)
            throw OpenSSLError(operation: "EVP_MAC_init")
        }
        return mac
    }

    // MARK: Pages in memory of the caller's

    /// Whether `page`, as it is in the file, is what was written as page `number` under this key.
    /// Nil in formats that do not authenticate pages.
    package func isAuthentic(_ page: UnsafeRawBufferPointer, number: UInt32) throws -> Bool? {
        guard let algorithm = format.pageAuthentication else { return nil }
        guard page.count == format.pageSize else { return false }
        return try withUnsafeTemporaryAllocation(byteCount: algorithm.digestSize, alignment: 8) { code in
            try authenticate(page, number: number, into: code)
            return isCode(UnsafeRawBufferPointer(code), of: page)
        }
    }

    /// Whether `code` is the one that stands in `page`.
    func isCode(_ code: UnsafeRawBufferPointer, of page: UnsafeRawBufferPointer) -> Bool {
        let stored = page[(textEnd + CipherFormat.vectorSize)...].prefix(code.count)
        return OpenSSL.constantTimeEqual(code, UnsafeRawBufferPointer(rebasing: stored))
    }

    /// Writes the plaintext of `page` as SQLite sees it: with its own header on page 1, and zeros in the reserve.
    package func decrypt(
        _ page: UnsafeRawBufferPointer,
        number: UInt32,
        into plain: UnsafeMutableRawBufferPointer
    ) throws {
        try check(page.count)
        try check(plain.count)
        let start = textStart(number)
        if number == 1 { plain.copyBytes(from: FileKind.plaintextHeader) }
        plain[textEnd...].initializeMemory(as: UInt8.self, repeating: 0)
        var written: Int32 = 0
        guard
            EVP_DecryptInit_ex(decryption, nil, nil, nil, page.bytes(at: textEnd)) == 1,
            EVP_DecryptUpdate(
                decryption,
                plain.bytes(at: start),
                &written,
                page.bytes(at: start),
                Int32(textEnd - start)
            ) == 1,
            Int(written) == textEnd - start
        else { throw OpenSSLError(operation: "EVP_DecryptUpdate") }
    }

    /// Writes the page that the file gets for `plain`, under a vector that has never been used before.
    ///
    /// - Parameter vector: 16 random bytes.
    package func encrypt(
        _ plain: UnsafeRawBufferPointer,
        number: UInt32,
        vector: UnsafeRawBufferPointer,
        into page: UnsafeMutableRawBufferPointer
    ) throws {
        try check(page.count)
        try check(plain.count)
        let start = textStart(number)
        var written: Int32 = 0
        guard
            EVP_EncryptInit_ex(encryption, nil, nil, nil, vector.bytes(at: 0)) == 1,
            EVP_EncryptUpdate(
                encryption,
                page.bytes(at: start),
                &written,
                plain.bytes(at: start),
                Int32(textEnd - start)
            ) == 1,
            Int(written) == textEnd - start
        else { throw OpenSSLError(operation: "EVP_EncryptUpdate") }
        if number == 1 { page.copyBytes(from: salt) }
        try finish(number: number, vector: vector, page)
    }

    /// Makes a page of a text that was encrypted under `vector` elsewhere; not for page 1.
    func seal(
        _ text: UnsafeRawBufferPointer,
        number: UInt32,
        vector: UnsafeRawBufferPointer,
        into page: UnsafeMutableRawBufferPointer
    ) throws {
        try check(page.count)
        page.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[..<textEnd]))
        try finish(number: number, vector: vector, page)
    }

    /// Writes what stands behind the text.
    private func finish(
        number: UInt32,
        vector: UnsafeRawBufferPointer,
        _ page: UnsafeMutableRawBufferPointer
    ) throws {
        page[textEnd...].initializeMemory(as: UInt8.self, repeating: 0)
        page[textEnd..<(textEnd + CipherFormat.vectorSize)].copyBytes(from: vector)
        guard let algorithm = format.pageAuthentication else { return }
        let code = page[(textEnd + CipherFormat.vectorSize)...].prefix(algorithm.digestSize)
        try authenticate(UnsafeRawBufferPointer(page), number: number, into: .init(rebasing: code))
    }

    // MARK: Pages in arrays

    /// As ``isAuthentic(_:number:)-(UnsafeRawBufferPointer,_)``.
    package func isAuthentic(_ page: some Collection<UInt8>, number: UInt32) throws -> Bool? {
        try [UInt8](page).withUnsafeBytes { try isAuthentic($0, number: number) }
    }

    /// As ``decrypt(_:number:into:)``.
    package func decrypt(_ page: some Collection<UInt8>, number: UInt32) throws -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: format.pageSize)
        try [UInt8](page).withUnsafeBytes { page in
            try plain.withUnsafeMutableBytes { try decrypt(page, number: number, into: $0) }
        }
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

    // MARK: The layout

    private func textStart(_ number: UInt32) -> Int { number == 1 ? CipherFormat.saltSize : 0 }
    private var textEnd: Int { format.pageSize - format.reserve }

    private func check(_ count: Int) throws {
        guard count == format.pageSize else { throw UnusableCipherFormat.pageSize(count) }
    }

    private func authenticate(
        _ page: UnsafeRawBufferPointer,
        number: UInt32,
        into code: UnsafeMutableRawBufferPointer
    ) throws {
        let start = textStart(number)
        var pageNumber = number.littleEndian
        // Without a key the context begins anew under the one it has.
        guard EVP_MAC_init(mac, nil, 0, nil) == 1,
            EVP_MAC_update(mac, page.bytes(at: start), textEnd + CipherFormat.vectorSize - start) == 1,
            withUnsafeBytes(of: &pageNumber, { EVP_MAC_update(mac, $0.bytes(at: 0), $0.count) }) == 1,
            EVP_MAC_final(mac, code.bytes(at: 0), nil, code.count) == 1
        else { throw OpenSSLError(operation: "EVP_MAC") }
    }
}

extension UnsafeRawBufferPointer {
    /// For C functions that take the address of bytes.
    fileprivate func bytes(at offset: Int) -> UnsafePointer<UInt8> {
        (baseAddress! + offset).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// For C functions that write bytes to an address.
    fileprivate func bytes(at offset: Int) -> UnsafeMutablePointer<UInt8> {
        (baseAddress! + offset).assumingMemoryBound(to: UInt8.self)
    }
}
