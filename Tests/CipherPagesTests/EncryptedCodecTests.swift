import CipherKeys
import SQLiteFormat
import Testing

@testable import CipherPages

/// Pages that a codec writes, read one after the other by OpenSSL alone.
struct EncryptedCodecTests {
    @Test(arguments: CipherFormat.standard)
    func openSSLReadsWhatIsWritten(format: CipherFormat) throws {
        let lockBytePage = UInt32((1 << 30) / format.pageSize + 1)
        for first in [1, 2, 1_000_000, lockBytePage - 3] {
            let key = try EncryptedPages.randomKey(format)
            let buffer = PageBuffer(pageSize: format.pageSize)
            try Cryptography.randomize(buffer.bytes)
            let plaintext = (0..<PageBuffer.capacity).map { Array(buffer.page($0).dropLast(format.reserve)) }
            var pages = [UInt8](repeating: 1, count: PageBuffer.capacity * format.pageSize)
            try pages.withUnsafeMutableBytes {
                try EncryptedCodec(key: key, format: format)
                    .seal(buffer, first: first, count: PageBuffer.capacity, into: $0)
            }
            let cipher = try PageCipher(key: key, format: format)
            for (index, plaintext) in plaintext.enumerated() {
                let number = first + UInt32(index)
                let page = Array(pages[(index * format.pageSize)...].prefix(format.pageSize))
                if number == lockBytePage {
                    #expect(page.allSatisfy { $0 == 0 })
                    continue
                }
                let isAuthentic = try page.withUnsafeBytes { try cipher.isAuthentic($0, number: number) }
                #expect(isAuthentic == (format.pageAuthentication == nil ? nil : true))
                let decrypted = try cipher.decrypt(page[...], number: number).dropLast(format.reserve)
                // Page 1 begins with the salt.
                let start = number == 1 ? CipherFormat.saltSize : 0
                #expect(decrypted.dropFirst(start).elementsEqual(plaintext.dropFirst(start)))
            }
        }
    }
}
