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
        try OpenSSL.randomize(ivs)
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
