internal import CipherKeys
internal import SQLiteFormat

/// The pages of an encrypted database.
final class EncryptedCodec: PageCodec {
    private let cipher: PageCipher
    private let authenticator: PageAuthenticator
    private let encryption: MultiBufferEncryption
    private let ivs: UnsafeMutableRawBufferPointer

    init(key: DerivedKey, format: CipherFormat) throws {
        cipher = try PageCipher(key: key, format: format)
        authenticator = PageAuthenticator(cipher, try MultiBufferMAC(key: key, format: format))
        encryption = try MultiBufferEncryption(key: key, format: format)
        ivs = .allocate(byteCount: PageBuffer.capacity * CipherFormat.ivSize, alignment: 64)
    }

    deinit {
        ivs.deallocate()
    }

    private func isLockBytePage(_ number: UInt32) -> Bool {
        LockBytePage.isPage(number, ofSize: cipher.format.pageSize)
    }

    func open(_ batch: PagePipeline.Batch, into plaintext: PageBuffer) throws {
        if let number = try authenticator.damaged(in: batch).first { throw UnauthenticPage(number: Int(number)) }
        var index = 0
        try batch.forEach { page, number in
            guard page.count == cipher.format.pageSize else { throw UnauthenticPage(number: Int(number)) }
            if !isLockBytePage(number) { try cipher.decrypt(page, number: number, into: plaintext.page(index)) }
            index += 1
        }
    }

    func seal(_ plaintext: PageBuffer, first: UInt32, count: Int, into pages: UnsafeMutableRawBufferPointer) throws {
        let pageSize = cipher.format.pageSize
        try Cryptography.randomize(ivs)
        // Page 1 begins with the salt: its ciphertext is shorter than the others'.
        let isBeginning = first == 1
        try encryption.run(plaintext, (isBeginning ? 1 : 0)..<count, ivs: UnsafeRawBufferPointer(ivs))
        for index in 0..<count {
            let page = UnsafeMutableRawBufferPointer(rebasing: pages[(index * pageSize)...].prefix(pageSize))
            let number = first + UInt32(index)
            let encrypted = UnsafeRawBufferPointer(plaintext.page(index))
            if isLockBytePage(number) {
                page.initializeMemory(as: UInt8.self, repeating: 0)
            } else if isBeginning, index == 0 {
                try cipher.encrypt(encrypted, number: 1, iv: iv(0), into: page)
            } else {
                try cipher.assemble(ciphertext: encrypted, number: number, iv: iv(index), into: page)
            }
        }
    }

    private func iv(_ index: Int) -> UnsafeRawBufferPointer {
        let start = index * CipherFormat.ivSize
        return UnsafeRawBufferPointer(rebasing: ivs[start..<(start + CipherFormat.ivSize)])
    }
}

/// Encrypts several pages at once, by AES-256-CBC.
///
/// In CBC each block waits for the one before it, which leaves most of the processor's AES units idle. Blocks of different
/// pages wait for nothing: block j of all pages is encrypted in one call, `C[j] = E(P[j] xor C[j-1])`, where `C[-1]` is the
/// page's IV (NIST SP 800-38A, section 6.2). The E is AES-256-ECB.
private final class MultiBufferEncryption {
    private let ciphertextSize: Int
    private let chain: UnsafeMutableRawBufferPointer
    private let context: CipherContext

    init(key: DerivedKey, format: CipherFormat) throws {
        ciphertextSize = format.pageSize - format.reserve
        context = try key.context(.ecb, isEncrypting: true)
        chain = .allocate(byteCount: CipherFormat.ivSize * PageBuffer.capacity, alignment: 64)
    }

    deinit {
        chain.deallocate()
    }

    /// Encrypts pages of `buffer` in place; not page 1 of a database.
    ///
    /// - Parameter ivs: 16 bytes for each page of the buffer.
    func run(_ buffer: PageBuffer, _ indices: Range<Int>, ivs: UnsafeRawBufferPointer) throws {
        guard !indices.isEmpty else { return }
        let size = CipherFormat.ivSize
        let chain = UnsafeMutableRawBufferPointer(rebasing: chain[..<(size * indices.count)])
        chain.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: ivs[(size * indices.lowerBound)...].prefix(chain.count))
        )
        let links = chain.assumingMemoryBound(to: SIMD2<UInt64>.self)
        let bytes = chain.assumingMemoryBound(to: UInt8.self).baseAddress!
        let start = buffer.bytes.baseAddress! + indices.lowerBound * buffer.stride
        let stride = buffer.stride
        for offset in Swift.stride(from: 0, to: ciphertextSize, by: size) {
            for lane in 0..<indices.count {
                links[lane] ^= start.load(fromByteOffset: lane * stride + offset, as: SIMD2<UInt64>.self)
            }
            guard context.run(iv: nil, bytes, chain.count, into: bytes) else { throw OpenSSLError(operation: "AES") }
            for lane in 0..<indices.count {
                start.storeBytes(of: links[lane], toByteOffset: lane * stride + offset, as: SIMD2<UInt64>.self)
            }
        }
    }
}
