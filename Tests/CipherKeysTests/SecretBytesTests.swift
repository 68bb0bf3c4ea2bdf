import Foundation
import TestSupport
import Testing

@testable import CipherKeys

@Suite struct SecretBytesTests {
    @Test func secretBytesRoundTrip() throws {
        for count in [0, 1, 31, 4096, 5000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31) }
            let secret = try SecretBytes(copying: bytes)
            #expect(secret.count == count)
            #expect(try secret.withUnsafeBytes { Array($0) } == bytes)
        }
    }

    @Test func secretsOfOtherLengthDiffer() throws {
        let secrets = try ["", "a", "ab", "abc"].map { try SecretBytes(utf8: $0) }
        for (left, first) in secrets.enumerated() {
            for (right, second) in secrets.enumerated() { #expect(try (first == second) == (left == right)) }
        }
    }

    @Test func memoryIsWipedBeforeRelease() throws {
        nonisolated(unsafe) var seen: [UInt8] = []
        var memory: SecretMemory? = try SecretMemory(
            count: 5000,
            fill: { $0.initializeMemory(as: UInt8.self, repeating: 0xa5) },
            onRelease: { seen = Array($0) }
        )
        #expect(try memory?.bytes.allSatisfy { $0 == 0xa5 } == true)
        memory = nil
        #expect(seen.count >= 5000, "the whole pages are wiped, not only the bytes in use")
        #expect(seen.allSatisfy { $0 == 0 })
    }

    @Test func memoryIsWipedWhenFillingFails() throws {
        struct Stop: Error {}
        nonisolated(unsafe) var seen: [UInt8] = [1]
        #expect(throws: Stop.self) {
            _ = try SecretMemory(
                count: 64,
                fill: {
                    $0.initializeMemory(as: UInt8.self, repeating: 0xa5)
                    throw Stop()
                },
                onRelease: { seen = Array($0) }
            )
        }
        #expect(seen.allSatisfy { $0 == 0 })
    }

    @Test func laterSecretBeginsWithZeros() throws {
        for _ in 0..<20 {
            let memory = try SecretMemory(count: 4096) { bytes in
                #expect(bytes.allSatisfy { $0 == 0 })
                bytes.initializeMemory(as: UInt8.self, repeating: 0xa5)
            }
            #expect(try memory.bytes.allSatisfy { $0 == 0xa5 })
        }
    }

    @Test func fewLockedPagesAreKept() throws {
        let kept = KeptSecretPages()
        let all = try (0..<10).map { _ in try kept.take(count: 48) }
        for pages in all { kept.giveBack(pages) }
        #expect(kept.count == KeptSecretPages.most)
        // The same ones serve again, for a secret that fits in a page.
        let addresses = Set(all.map(\.usable.baseAddress))
        let long = try kept.take(count: 5000)
        #expect(kept.count == KeptSecretPages.most && long.usable.count >= 5000)
        let again = try (0..<KeptSecretPages.most).map { _ in try kept.take(count: 4096) }
        #expect(again.allSatisfy { addresses.contains($0.usable.baseAddress) } && kept.count == 0)
        kept.giveBack(long)
        #expect(kept.count == 0)
        for pages in again { pages.unmap() }
    }

    @Test func unlockedPagesAreNotKept() throws {
        let kept = KeptSecretPages()
        var pages = try kept.take(count: 48)
        pages.isLocked = false
        kept.giveBack(pages)
        #expect(kept.count == 0)
    }

    #if os(Linux)
        @Test func memoryIsLockedAndNotDumped() throws {
            let secret = try SecretBytes(copying: Array("a secret of some bytes".utf8))
            let address = try secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            let flags = try Self.flags(ofPageAt: address)
            #expect(flags.contains("dd"), "dd: do not dump; found \(flags)")
            #expect(flags.contains("wf"), "wf: wiped on fork; found \(flags)")
            #expect(flags.contains("lo") == secret.isLocked, "lo: locked; found \(flags)")
            #expect(secret.isLocked, "RLIMIT_MEMLOCK leaves no room for one page")
        }

        @Test func memoryHasGuardPages() throws {
            let secret = try SecretBytes(count: 4096) { _ in }
            let address = try secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            let lines = try processInformation("maps").split(separator: "\n")
            func rights(at address: UInt) -> Substring? {
                for line in lines {
                    let fields = line.split(separator: " ")
                    let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                    if bounds[0] <= address, address < bounds[1] { return fields[1] }
                }
                return nil
            }
            #expect(rights(at: address - 1) == "---p")
            #expect(rights(at: address) == "rw-p")
            #expect(rights(at: address + 4096) == "---p")
        }

        /// The VmFlags line of the mapping that holds `address`.
        private static func flags(ofPageAt address: UInt) throws -> Set<Substring> {
            var inside = false
            for line in try processInformation("smaps").split(separator: "\n") {
                let first = line.prefix { $0 != " " }
                let bounds = first.split(separator: "-").compactMap { UInt($0, radix: 16) }
                if bounds.count == 2 { inside = bounds[0] <= address && address < bounds[1] }
                if inside, line.hasPrefix("VmFlags:") { return Set(line.split(separator: " ").dropFirst()) }
            }
            return []
        }
    #endif

    @Test func equalityComparesEveryByteAndCount() throws {
        let bytes = Array("0123456789".utf8)
        let secret = try SecretBytes(copying: bytes)
        #expect(try secret == SecretBytes(copying: bytes))
        #expect(try !(secret == SecretBytes(copying: Array(bytes.dropLast()))))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0x80
            #expect(try !(secret == SecretBytes(copying: other)))
        }
        #expect(try SecretBytes(copying: []) == SecretBytes(copying: []))
    }

    @Test func printingShowsCountOnly() throws {
        let secret = try SecretBytes(utf8: "hunter2-hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(text.contains("15 bytes"))
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("104"), "not the first byte as a number either")
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test(arguments: [-1, Int.min, Int.max, 1 << 31, 64 << 20 + 1])
    func invalidCountIsRefused(count: Int) {
        #expect(throws: (any Error).self) { try SecretBytes(count: count) { _ in } }
        #expect(throws: (any Error).self) { try SecretBytes.random(count: count) }
    }
}
