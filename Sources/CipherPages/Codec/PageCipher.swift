package import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// Authenticates, decrypts and encrypts the pages of one database, offline. For one thread at a time.
///
/// The layout, for pages of P bytes with a reserve of R and an HMAC of H:
///
///     page 1:  salt[16] | ciphertext[16 ..< P-R] | IV[16]     | HMAC[H] | padding
///     page n:             ciphertext[ 0 ..< P-R] | IV[16]     | HMAC[H] | padding
///
/// AES-256-CBC without padding; `HMAC(hmac key, ciphertext || IV || page number, 4 bytes)`. A plaintext header stands in the place of the
/// salt on page 1.
package final class PageCipher {
    package let format: CipherFormat
    private let salt: [UInt8]
    let mac: PageMAC?
    /// A forked child has a copy of the contexts.
    private let owner = OwnerProcess()
    private let encryption: CipherContext
    private let decryption: CipherContext

    package init(key: DerivedKey, format: CipherFormat) throws {
        self.format = format
        salt = key.salt
        mac = try PageMAC(key: key, format: format)
        encryption = try key.context(.cbc, isEncrypting: true)
        decryption = try key.context(.cbc, isEncrypting: false)
    }

    // MARK: Pages in memory of the caller's

    /// Whether `page`, as it is in the file, is what was written as page `number` under this key.
    /// Nil in formats that do not authenticate pages.
    package func isAuthentic(_ page: UnsafeRawBufferPointer, number: UInt32) throws -> Bool? {
        guard let mac else { return nil }
        return try mac.isRight(page, number: number)
    }

    /// Writes the plaintext of `page` as SQLite sees it: with its own header on page 1, and zeros in the reserve.
    package func decrypt(
        _ page: UnsafeRawBufferPointer,
        number: UInt32,
        into plain: UnsafeMutableRawBufferPointer
    ) throws {
        try check(page.count)
        try check(plain.count)
        let start = ciphertextStart(number)
        if number == 1 {
            if format.plaintextHeaderSize > 0 {
                plain.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[..<start]))
            } else {
                plain.copyBytes(from: FileKind.magic)
            }
        }
        plain[ciphertextEnd...].initializeMemory(as: UInt8.self, repeating: 0)
        guard
            decryption.run(
                iv: page.bytes(at: ciphertextEnd),
                page.bytes(at: start),
                ciphertextEnd - start,
                into: plain.bytes(at: start)
            )
        else { throw OpenSSLError(operation: "AES") }
    }

    /// Writes the page that the file gets for `plain`, under an IV that has never been used before.
    ///
    /// - Parameter iv: 16 random bytes.
    package func encrypt(
        _ plain: UnsafeRawBufferPointer,
        number: UInt32,
        iv: UnsafeRawBufferPointer,
        into page: UnsafeMutableRawBufferPointer
    ) throws {
        try check(page.count)
        try check(plain.count)
        let start = ciphertextStart(number)
        guard
            encryption.run(
                iv: iv.bytes(at: 0),
                plain.bytes(at: start),
                ciphertextEnd - start,
                into: page.bytes(at: start)
            )
        else { throw OpenSSLError(operation: "AES") }
        if number == 1 {
            if format.plaintextHeaderSize > 0 {
                page.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[..<start]))
            } else {
                page.copyBytes(from: salt)
            }
        }
        try finish(number: number, iv: iv, page)
    }

    /// Makes a page of ciphertext that was encrypted under `iv` elsewhere; not for page 1.
    func assemble(
        ciphertext: UnsafeRawBufferPointer,
        number: UInt32,
        iv: UnsafeRawBufferPointer,
        into page: UnsafeMutableRawBufferPointer
    ) throws {
        try check(page.count)
        page.copyMemory(from: UnsafeRawBufferPointer(rebasing: ciphertext[..<ciphertextEnd]))
        try finish(number: number, iv: iv, page)
    }

    /// Writes what follows the ciphertext: the IV, the MAC and the padding.
    private func finish(
        number: UInt32,
        iv: UnsafeRawBufferPointer,
        _ page: UnsafeMutableRawBufferPointer
    ) throws {
        page[ciphertextEnd...].initializeMemory(as: UInt8.self, repeating: 0)
        page[ciphertextEnd..<format.macStart].copyBytes(from: iv)
        try mac?.write(into: page, number: number)
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
        return try isFirstPage(decrypted: decrypt(page, number: 1))
    }

    /// Whether a decrypted page is a page 1, by the fields of SQLite's header that have fixed values.
    func isFirstPage(decrypted header: [UInt8]) -> Bool {
        // > offset 20: reserved bytes
        // SQLCipher 4 reserves more than format 1 needs in the files that it makes itself.
        guard PlaintextHeader.pageSize(header) == format.pageSize, Int(header[20]) >= format.reserve else {
            return false
        }
        guard format.plaintextHeaderSize > 0 else { return true }
        // > offset 44: schema format 1 to 4; offset 56: text encoding 1 to 3; 0 in a database without a schema
        // In the first block of ciphertext stands one of them, or what is reserved: it tells where the IV is.
        guard header.bigEndian(at: 44) <= 4, header.bigEndian(at: 56) <= 3 else { return false }
        // > offset 72: reserved for expansion. Must be zero.
        return header[72..<92].allSatisfy { $0 == 0 }
            && BTreePage(header, number: 1, usableSize: format.pageSize - Int(header[20])) != nil
    }

    // MARK: The layout

    private func ciphertextStart(_ number: UInt32) -> Int { number == 1 ? format.firstPageStart : 0 }
    private var ciphertextEnd: Int { format.pageSize - format.reserve }

    private func check(_ count: Int) throws {
        try owner.check(.secret)
        guard count == format.pageSize else { throw UnusableCipherFormat.pageSize(count) }
    }
}

extension DerivedKey {
    /// A context of the page key.
    func context(_ mode: CipherContext.Mode, isEncrypting: Bool) throws -> CipherContext {
        var made: CipherContext?
        try withPageKey { made = try CipherContext($0, mode, isEncrypting: isEncrypting) }
        return made.take()!
    }
}
