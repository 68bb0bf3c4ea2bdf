import CipherKeys
import CipherSystem
import Testing

@testable import CipherPages

/// The first page proves a key, and its MAC is not computed again for the same bytes.
@Suite struct FirstPageProofTests {
    private let pages: EncryptedPages
    private let first: [UInt8]
    private let hmacKey: [UInt8]
    private static let format = CipherFormat.v4

    init() throws {
        pages = try EncryptedPages(3, format: Self.format)
        first = Array(pages.bytes.prefix(4096))
        hmacKey = try KeyDerivation.pageAuthenticationKey(for: pages.key, format: Self.format).withUnsafeBytes {
            Array($0)
        }
    }

    private func proof(_ page: [UInt8]) throws -> FirstPageProof? {
        try FirstPageProof(page, key: pages.key, format: Self.format)
    }

    /// What the engine gets for a page, and what it should get.
    private func macs(
        _ contexts: KeptContexts,
        key: [UInt8]? = nil,
        _ page: [UInt8],
        number: UInt32 = 1
    ) -> (got: [UInt8], right: [UInt8]) {
        let key = key ?? hmacKey
        // Page 1 begins with the salt, and the MAC stands behind what it covers.
        let page = Array(page[(number == 1 ? 16 : 0)...])
        let covered = page.count - Self.format.reserve + CipherFormat.ivSize
        func mac(_ contexts: KeptContexts) -> [UInt8] {
            var result = [UInt8](repeating: 0, count: 64)
            let isDone = key.withUnsafeBytes { key in
                page.withUnsafeBytes { page in
                    withUnsafeBytes(of: number.littleEndian) {
                        contexts.pageHMAC(
                            .sha512,
                            key: key,
                            UnsafeRawBufferPointer(rebasing: page[..<covered]),
                            $0,
                            into: &result
                        )
                    }
                }
            }
            #expect(isDone)
            return result
        }
        return (mac(contexts), mac(KeptContexts()))
    }

    private func adopted() throws -> KeptContexts {
        let contexts = KeptContexts()
        contexts.adopt(try #require(try proof(first)))
        return contexts
    }

    @Test(arguments: [16, 100, 4015, 4016, 4032, 4095]) func eachByteCounts(offset: Int) throws {
        #expect(try proof(first) != nil)
        var changed = first
        changed[offset] ^= 1
        #expect(try proof(changed) == nil)
    }

    @Test func otherKeySaltSizeAndFormatAreRefused() throws {
        #expect(try FirstPageProof(first, key: EncryptedPages(1, format: Self.format).key, format: Self.format) == nil)
        #expect(try FirstPageProof(first, key: pages.key, format: .v3) == nil)
        #expect(try FirstPageProof(first.dropLast(), key: pages.key, format: Self.format) == nil)
        #expect(
            try FirstPageProof(first, key: pages.key, format: CipherFormat(Self.format) { $0.pageSize = 8192 }) == nil
        )
        let salted = try pages.key.withPageKey {
            try DatabaseKey.raw(SecretBytes(copying: $0)).derive(salt: Array(1..<17), format: Self.format)
        }
        #expect(try FirstPageProof(first, key: salted, format: Self.format) == nil)
    }

    @Test func provenPageHasItsMAC() throws {
        let contexts = try adopted()
        for _ in 0..<3 {
            let (got, right) = macs(contexts, first)
            #expect(got == right && got == Array(first[(4096 - Self.format.reserve + 16)...].prefix(64)))
        }
    }

    @Test func changedPageGetsItsOwnMAC() throws {
        for offset in [16, 17, 2000, 4031] {
            var changed = first
            changed[offset] ^= 1
            let (got, right) = try macs(adopted(), changed)
            #expect(got == right)
        }
    }

    @Test func otherPagesAndKeysGetTheirOwnMAC() throws {
        let second = Array(pages.bytes[4096..<8192])
        let (ofSecond, rightOfSecond) = try macs(adopted(), second, number: 2)
        #expect(ofSecond == rightOfSecond)
        // The same bytes under another number, and under another key.
        let (numbered, rightNumbered) = try macs(
            adopted(),
            [UInt8](repeating: 0, count: 0) + first.dropFirst(16),
            number: 2
        )
        #expect(numbered == rightNumbered)
        let (keyed, rightKeyed) = try macs(adopted(), key: [UInt8](repeating: 7, count: 32), first)
        #expect(keyed == rightKeyed)
    }
}
