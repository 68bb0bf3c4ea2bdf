import CipherKeys
import TestSupport
import Testing

@testable import CipherPages

/// MACs that are computed ahead, against those that OpenSSL computes of the same bytes.
struct MACsAheadTests {
    private static let format = CipherFormat.v4
    /// False without libipsec-mb, and on processors without AVX2.
    static let isPossible = (try? MultiBufferMAC(key: EncryptedPages.randomKey(format), format: format)) != nil

    /// A file, and an engine that reads pages of it.
    private final class Scene {
        let pages: EncryptedPages
        /// What is read ahead; may differ from what the engine has in its buffer.
        var file: [UInt8]
        var reads = 0
        var fails = false
        let contexts = KeptContexts()
        let key: [UInt8]

        init(_ count: Int) throws {
            pages = try EncryptedPages(count, format: format)
            file = pages.bytes
            key = try KeyDerivation.pageAuthenticationKey(for: pages.key, format: format).withUnsafeBytes { Array($0) }
            contexts.readAhead(format) { [unowned self] buffer, offset in
                reads += 1
                if fails { return false }
                buffer.initializeMemory(as: UInt8.self, repeating: 0)
                buffer.copyBytes(from: file.dropFirst(Int(offset)).prefix(buffer.count))
                return true
            }
        }

        func page(_ number: UInt32) -> [UInt8] {
            let start = Int(number - 1) * format.pageSize
            return Array(pages.bytes[start..<(start + format.pageSize)])
        }

        /// What the engine is given for a page, and what OpenSSL alone says.
        func macs(_ page: [UInt8], _ number: UInt32, key: [UInt8]? = nil) -> (ahead: [UInt8], expected: [UInt8]) {
            let covered = format.pageSize - format.reserve + CipherFormat.ivSize
            let key = key ?? self.key
            var (ahead, expected) = ([UInt8](repeating: 0, count: 64), [UInt8](repeating: 1, count: 64))
            withUnsafeBytes(of: number.littleEndian) { number in
                page.withUnsafeBytes { page in
                    key.withUnsafeBytes { key in
                        let bytes = UnsafeRawBufferPointer(rebasing: page.prefix(covered))
                        #expect(contexts.pageHMAC(.sha512, key: key, bytes, number, into: &ahead))
                        #expect(KeptContexts().hmac(.sha512, key: key, bytes, number, into: &expected))
                    }
                }
            }
            return (ahead, expected)
        }

        /// Whether the answer for a page is OpenSSL's.
        func isRight(_ page: [UInt8], _ number: UInt32, key: [UInt8]? = nil) -> Bool {
            let macs = macs(page, number, key: key)
            return macs.ahead == macs.expected
        }
    }

    @Test(.enabled(if: isPossible, "this machine computes no MACs side by side"))
    func sequenceIsReadAhead() throws {
        let scene = try Scene(200)
        for number in UInt32(1)...200 { #expect(scene.isRight(scene.page(number), number)) }
        // 8, 16, and then 32 at once.
        #expect((5...9).contains(scene.reads))
    }

    /// What is computed ahead is what answers, and takes 256 KiB at most.
    @Test(.enabled(if: isPossible, "this machine computes no MACs side by side"), arguments: [1024, 4096, 65536])
    func pagesAheadAreUsed(pageSize: Int) throws {
        let format = try CipherFormat(Self.format) { $0.pageSize = pageSize }
        let pages = try EncryptedPages(100, format: format)
        var most = 0
        let ahead = try #require(
            MACsAhead(format) { buffer, offset in
                most = max(most, buffer.count)
                buffer.initializeMemory(as: UInt8.self, repeating: 0)
                buffer.copyBytes(from: pages.bytes.dropFirst(Int(offset)).prefix(buffer.count))
                return true
            }
        )
        let key = try KeyDerivation.pageAuthenticationKey(for: pages.key, format: format)
        let covered = pageSize - format.reserve + CipherFormat.ivSize
        try key.withUnsafeBytes { key in
            let owner = try #require(KeptMAC(.sha512, key))
            for number in UInt32(2)...100 {
                let page = pages.bytes[(Int(number - 1) * pageSize)...].prefix(pageSize)
                let found = Array(page.prefix(covered)).withUnsafeBytes {
                    ahead.mac($0, coded: number, owner: owner, key: key).map(Array.init)
                }
                // Four reads make a sequence.
                #expect(number < 6 || found == Array(page.dropFirst(covered).prefix(64)), "\(number)")
            }
        }
        #expect(most <= 256 << 10 && most >= 4 * pageSize)
    }

    @Test(.enabled(if: isPossible, "this machine computes no MACs side by side"))
    func randomOrderReadsNothingAhead() throws {
        let scene = try Scene(200)
        for number in stride(from: UInt32(2), through: 200, by: 7) {
            #expect(scene.isRight(scene.page(number), number))
        }
        for number in (UInt32(2)...200).reversed() { #expect(scene.isRight(scene.page(number), number)) }
        #expect(scene.reads == 0)
    }

    /// As pages are that are newer in the WAL, or were written, moved, cut off or encrypted under another key meanwhile.
    @Test func otherBytesGetTheirOwnMAC() throws {
        var trials = RandomTrials("pages read ahead", "CIPHERDB_PAGES", rounds: 4_000)
        let scene = try Scene(100)
        let other = try EncryptedPages(100, format: Self.format)
        let otherKey = try KeyDerivation.pageAuthenticationKey(for: other.key, format: Self.format)
            .withUnsafeBytes { Array($0) }
        var number: UInt32 = 2
        while trials.goesOn() {
            // Mostly in sequence.
            let jump = trials.random.next() % 20
            number = jump == 0 ? UInt32(trials.random.next() % 99) + 2 : number % 100 + 1 + UInt32(jump == 1 ? 1 : 0)
            number = max(2, min(100, number))
            var page = scene.page(number)
            switch trials.random.next() % 12 {
            case 0: page[Int(trials.random.next() % 4096)] ^= 1
            case 1: scene.file[Int(trials.random.next() % UInt64(scene.file.count))] ^= 1
            case 2: page = scene.page(max(2, number - 1))
            case 3: scene.file = scene.pages.bytes
            case 4: scene.file.removeLast(min(scene.file.count, 4096))
            case 5: scene.fails.toggle()
            case 6: #expect(scene.isRight(page, number, key: otherKey))
            default: break
            }
            #expect(scene.isRight(page, number))
        }
    }

    /// As if libipsec-mb computed wrong MACs.
    @Test(.enabled(if: isPossible, "this machine computes no MACs side by side"))
    func openSSLDecidesOnPagesReadAhead() throws {
        let scene = try Scene(60)
        for number in UInt32(2)...20 { #expect(scene.isRight(scene.page(number), number)) }
        let wrong = try #require(try MultiBufferMAC(key: EncryptedPages.randomKey(Self.format), format: Self.format))
        let ahead = try #require(scene.contexts.ahead)
        #expect(ahead.macs != nil)
        ahead.macs = wrong
        let before = scene.reads
        for number in UInt32(21)...60 { #expect(scene.isRight(scene.page(number), number)) }
        #expect(scene.reads > before)
    }

    /// A database can have as many pages as 32 bits count.
    @Test func largestPageNumbersAreInRange() throws {
        let first = UInt32.max - 20
        let pages = try EncryptedPages(20, from: first, format: Self.format)
        let contexts = KeptContexts()
        contexts.readAhead(Self.format) { buffer, offset in
            let start = Int(offset) - Int(first - 1) * Self.format.pageSize
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            buffer.copyBytes(from: pages.bytes.dropFirst(start).prefix(buffer.count))
            return true
        }
        let covered = Self.format.pageSize - Self.format.reserve + CipherFormat.ivSize
        let key = try KeyDerivation.pageAuthenticationKey(for: pages.key, format: Self.format).withUnsafeBytes {
            Array($0)
        }
        for index in 0..<UInt32(20) {
            let page = Array(pages.bytes[(Int(index) * Self.format.pageSize)...].prefix(Self.format.pageSize))
            var result = [UInt8](repeating: 0, count: 64)
            withUnsafeBytes(of: (first + index).littleEndian) { number in
                page.withUnsafeBytes { page in
                    key.withUnsafeBytes {
                        let bytes = UnsafeRawBufferPointer(rebasing: page.prefix(covered))
                        #expect(contexts.pageHMAC(.sha512, key: $0, bytes, number, into: &result))
                    }
                }
            }
            #expect(result == Array(page[covered..<(covered + 64)]))
        }
    }

    @Test func formatsWithOtherMACsAreNotReadAhead() {
        for format in CipherFormat.standard where format.pageAuthentication != .sha512 {
            #expect(MACsAhead(format) { _, _ in true } == nil)
        }
    }
}
