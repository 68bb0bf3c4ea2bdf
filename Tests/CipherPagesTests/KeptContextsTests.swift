import CipherKeys
import TestSupport
import Testing

@testable import CipherPages

struct KeptContextsTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        stride(from: 0, to: hexadecimal.count, by: 2).map { offset in
            let start = hexadecimal.index(hexadecimal.startIndex, offsetBy: offset)
            return UInt8(hexadecimal[start...].prefix(2), radix: 16)!
        }
    }

    private static func hmac(
        _ contexts: KeptContexts,
        _ algorithm: HashAlgorithm,
        _ key: [UInt8],
        _ first: [UInt8],
        _ second: [UInt8] = []
    ) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: algorithm.digestSize)
        let isDone = key.withUnsafeBytes { key in
            first.withUnsafeBytes { first in
                second.withUnsafeBytes { contexts.hmac(algorithm, key: key, first, $0, into: &result) }
            }
        }
        return isDone ? result : nil
    }

    private static func cipher(
        _ contexts: KeptContexts,
        isEncrypting: Bool,
        _ key: [UInt8],
        _ iv: [UInt8],
        _ input: [UInt8]
    ) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: input.count)
        let isDone = key.withUnsafeBytes { key in
            input.withUnsafeBytes {
                contexts.cipher(isEncrypting: isEncrypting, key: key, iv: iv, $0, into: &result)
            }
        }
        return isDone ? result : nil
    }

    /// RFC 2202 and RFC 4231, the first case of each.
    @Test(arguments: [
        (HashAlgorithm.sha1, "b617318655057264e28bc0b6fb378c8ef146be00"),
        (.sha256, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            .sha512,
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
        ),
    ])
    func hmacMatchesVector(algorithm: HashAlgorithm, expected: String) {
        let contexts = KeptContexts()
        let key = [UInt8](repeating: 0x0b, count: 20)
        for _ in 0..<3 {
            #expect(Self.hmac(contexts, algorithm, key, Array("Hi There".utf8)) == Self.bytes(expected))
            #expect(Self.hmac(contexts, algorithm, key, Array("Hi".utf8), Array(" There".utf8)) == Self.bytes(expected))
        }
    }

    /// NIST SP 800-38A, F.2.5 and F.2.6.
    @Test func cipherMatchesVector() {
        let key = Self.bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
        let iv = [UInt8](0..<16)
        let plaintext = Self.bytes(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
        )
        let ciphertext = Self.bytes(
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
                + "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
        )
        let contexts = KeptContexts()
        for _ in 0..<3 {
            #expect(Self.cipher(contexts, isEncrypting: true, key, iv, plaintext) == ciphertext)
            #expect(Self.cipher(contexts, isEncrypting: false, key, iv, ciphertext) == plaintext)
        }
    }

    /// What is kept never shows in a result, in whatever order keys, algorithms, directions and lengths follow each other.
    @Test func keptContextsEqualNewOnes() throws {
        var trials = RandomTrials("kept contexts", "CIPHERDB_PAGES", rounds: 3_000)
        let keys = (0..<4).map { _ in (0..<32).map { _ in UInt8(truncatingIfNeeded: trials.random.next()) } }
        let contexts = KeptContexts()
        while trials.goesOn() {
            let key = keys[Int(trials.random.next() % 4)]
            let blocks = Int(trials.random.next() % 260) + 1
            let input = (0..<(blocks * 16)).map { _ in UInt8(truncatingIfNeeded: trials.random.next()) }
            let iv = Array(input.prefix(16))
            switch trials.random.next() % 3 {
            case 0:
                let algorithm = HashAlgorithm.allCases[Int(trials.random.next() % 3)]
                let mac = Self.hmac(contexts, algorithm, key, input, iv)
                #expect(mac != nil && mac == Self.hmac(KeptContexts(), algorithm, key, input, iv))
            case let direction:
                let output = Self.cipher(contexts, isEncrypting: direction == 1, key, iv, input)
                let expected = Self.cipher(KeptContexts(), isEncrypting: direction == 1, key, iv, input)
                #expect(output != nil && output == expected)
            }
        }
    }

    @Test func keyOfAnotherLengthIsRefused() {
        let contexts = KeptContexts()
        let iv = [UInt8](repeating: 0, count: 16)
        #expect(Self.cipher(contexts, isEncrypting: true, [1, 2, 3], iv, iv) == nil)
        #expect(Self.cipher(contexts, isEncrypting: true, [UInt8](repeating: 7, count: 32), iv, iv) != nil)
    }
}
