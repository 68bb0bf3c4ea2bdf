import CipherKeys
import CipherSystem
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CipherPages

struct PageAuthenticatorTests {
    static let formats: [CipherFormat] = CipherFormat.standard.filter { $0.pageAuthentication != nil }
    /// The MACs of format 4 leave no room for content in pages of 512 bytes.
    static let pageSizes = CipherFormat.pageSizes.filter { $0 > 512 }
    static let isMultiBufferAvailable = MultiBufferMAC.isAvailable

    #if os(Linux) && arch(x86_64)
        @Test func multiBufferMACsAreAvailable() throws {
            #expect(Self.isMultiBufferAvailable)
            let processor = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
            let lanes = try MultiBufferMAC(key: EncryptedPages.randomKey(.v4), format: .v4)
            #expect((lanes != nil) == processor.contains(" avx2 "))
        }
    #endif

    @Test(.enabled(if: isMultiBufferAvailable, "libipsec-mb is missing: run make setup"), arguments: pageSizes)
    func multiBufferMACsMatchOpenSSL(pageSize: Int) throws {
        let format = try CipherFormat { $0.pageSize = pageSize }
        let pages = try EncryptedPages(MultiBufferMAC.lanes, from: 1_000_000, format: format)
        let lanes = try #require(try MultiBufferMAC(key: pages.key, format: format))
        let cipher = try PageCipher(key: pages.key, format: format)
        for count in 1...MultiBufferMAC.lanes {
            pages.bytes.withUnsafeBytes { bytes in
                let page = { UnsafeRawBufferPointer(rebasing: bytes[($0 * pageSize)..<(($0 + 1) * pageSize)]) }
                #expect(lanes.run(count) { (pages.first + UInt32($0), page($0)) })
                #expect((0..<count).allSatisfy { cipher.mac?.matches(lanes.mac($0), page($0)) == true })
                // Another number in the last lane: only its MAC is another.
                #expect(lanes.run(count) { (pages.first + ($0 < count - 1 ? UInt32($0) : 0), page($0)) })
                let isRight = (0..<count).map { cipher.mac?.matches(lanes.mac($0), page($0)) == true }
                #expect(isRight == (0..<count).map { $0 < count - 1 || count == 1 })
            }
        }
        #expect(pages.bytes.withUnsafeBytes { bytes in !lanes.run(MultiBufferMAC.lanes + 1) { _ in (2, bytes) } })
    }

    @Test(.enabled(if: isMultiBufferAvailable, "libipsec-mb is missing: run make setup"))
    func threadsComputeMACsAtOnce() throws {
        let pages = try (0..<4).map { _ in try EncryptedPages(MultiBufferMAC.lanes, from: 2, format: .v4) }
        let wrong = Lock(0)
        DispatchQueue.concurrentPerform(iterations: pages.count) { thread in
            let pages = pages[thread]
            guard let lanes = try? MultiBufferMAC(key: pages.key, format: .v4),
                let cipher = try? PageCipher(key: pages.key, format: .v4)
            else { return wrong.withLock { $0 += 1 } }
            pages.bytes.withUnsafeBytes { bytes in
                let page = { UnsafeRawBufferPointer(rebasing: bytes[($0 * 4096)..<(($0 + 1) * 4096)]) }
                for _ in 0..<50 {
                    let hasRun = lanes.run(MultiBufferMAC.lanes) { (pages.first + UInt32($0), page($0)) }
                    let isRight = (0..<MultiBufferMAC.lanes).allSatisfy {
                        cipher.mac?.matches(lanes.mac($0), page($0)) == true
                    }
                    if !hasRun || !isRight { wrong.withLock { $0 += 1 } }
                }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test(arguments: formats, [true, false])
    func eachDamagedPageIsFound(format: CipherFormat, lanes: Bool) throws {
        let pages = try EncryptedPages(70, format: format)
        let authenticator = PageAuthenticator(
            try PageCipher(key: pages.key, format: format),
            lanes ? try MultiBufferMAC(key: pages.key, format: format) : nil
        )
        #expect(try pages.damaged(authenticator).isEmpty)
        for number in 1...70 {
            var copy = pages
            let start = (number - 1) * format.pageSize + (number == 1 ? 16 : 0)
            // The twelve bytes at the end of a page of format 3 are covered by nothing.
            copy.bytes[start + (number * 997) % (format.pageSize - 48)] ^= 1
            #expect(try copy.damaged(authenticator) == [UInt32(number)])
        }
        var copy = pages
        copy.bytes.removeLast(100)
        for number in [1, 2, 33, 34, 69] { copy.bytes[number * format.pageSize - format.reserve] ^= 0x80 }
        #expect(try copy.damaged(authenticator) == [1, 2, 33, 34, 69, 70])
        // Two pages in each other's place.
        copy = pages
        for offset in 0..<format.pageSize {
            copy.bytes.swapAt(10 * format.pageSize + offset, 20 * format.pageSize + offset)
        }
        #expect(try copy.damaged(authenticator) == [11, 21])
    }

    @Test(.enabled(if: isMultiBufferAvailable, "libipsec-mb is missing: run make setup"))
    func openSSLDecidesOnRejectedPages() throws {
        var pages = try EncryptedPages(50, from: 2, format: .v4)
        let wrong = try #require(try MultiBufferMAC(key: EncryptedPages.randomKey(.v4), format: .v4))
        let authenticator = PageAuthenticator(try PageCipher(key: pages.key, format: .v4), wrong)
        #expect(try pages.damaged(authenticator).isEmpty)
        pages.bytes[5 * 4096] ^= 1
        #expect(try pages.damaged(authenticator) == [7])
    }

    @Test func pagesWithoutMACAreNotDamaged() throws {
        var pages = try EncryptedPages(3, from: UInt32((1 << 30) / 4096), format: .v4)
        pages.bytes.replaceSubrange(4096..<8192, with: repeatElement(0, count: 4096))
        #expect(try pages.damaged(PageAuthenticator(key: pages.key, format: .v4)).isEmpty)
        var old = try EncryptedPages(40, format: .v1)
        old.bytes[5000] ^= 1
        #expect(try old.damaged(PageAuthenticator(key: old.key, format: .v1)).isEmpty)
    }
}
