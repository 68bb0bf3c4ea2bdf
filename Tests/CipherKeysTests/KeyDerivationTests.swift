import Foundation
import TestSupport
import Testing

@testable import CipherKeys

@Suite struct KeyDerivationTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let source: String
        let hash: String
        let password: String
        let salt: String
        let iterations: Int
        let key: String

        var testDescription: String { "\(source), \(hash), \(iterations) iterations, \(password.count / 2) bytes" }

        static let all: [Vector] = {
            guard let url = Bundle.module.url(forResource: "pbkdf2", withExtension: "json", subdirectory: "Vectors"),
                let data = try? Data(contentsOf: url), let all = try? JSONDecoder().decode([Vector].self, from: data)
            else { preconditionFailure("the vectors cannot be read") }
            return all
        }()
    }

    static func bytes(_ hex: String) throws -> [UInt8] {
        guard !hex.isEmpty else { return [] }
        return try SecretBytes(utf8: hex).withUnsafeBytes { try Hexadecimal.decode($0) }.withUnsafeBytes { Array($0) }
    }

    @Test func vectorCountIsThirtyFive() {
        #expect(Vector.all.count == 35)
        #expect(Set(Vector.all.map(\.hash)) == ["sha1", "sha256", "sha512"])
    }

    // RFC 6070 has one of 16,777,216 iterations, which takes seconds.
    @Test(arguments: Vector.all.filter { Extent.isComplete || $0.iterations < 1 << 20 })
    func pbkdf2MatchesVector(vector: Vector) throws {
        let algorithm = try #require(HashAlgorithm(rawValue: vector.hash.uppercased()))
        let expected = try Self.bytes(vector.key)
        let key = try KeyDerivation.pbkdf2(
            algorithm,
            password: SecretBytes(copying: Self.bytes(vector.password)),
            salt: Self.bytes(vector.salt),
            iterations: vector.iterations,
            count: expected.count
        )
        #expect(try key == SecretBytes(copying: expected))
    }

    @Test(arguments: [0, -1, Int(Int32.max) + 1])
    func iterationsOutOfBoundsAreRefused(iterations: Int) throws {
        let password = try SecretBytes(utf8: "password")
        #expect(throws: UnusableDerivation(iterations: iterations, count: 32)) {
            try KeyDerivation.pbkdf2(.sha256, password: password, salt: [1], iterations: iterations, count: 32)
        }
    }

    @Test func rawKeyIsNotDerived() throws {
        let raw = try SecretBytes.random(count: 32)
        let derived = try DatabaseKey.raw(raw).derive(salt: Array(0..<16), format: .v4)
        #expect(try derived.withPageKey { Array($0) } == raw.withUnsafeBytes { Array($0) })
        #expect(derived.salt == Array(0..<16))
    }

    @Test func saltOfRawKeyTakesPrecedence() throws {
        let both = try SecretBytes.random(count: 48)
        let derived = try DatabaseKey.rawWithSalt(both).derive(salt: Array(0..<16), format: .v4)
        #expect(try derived.salt == both.withUnsafeBytes { Array($0[32...]) })
    }

    @Test func literalHoldsKeyAndSalt() throws {
        let key = (0..<32).map { UInt8($0) }
        let derived = try DatabaseKey.raw(SecretBytes(copying: key)).derive(
            salt: (0..<16).map { $0 + 0xf0 },
            format: .v3
        )
        let text = try derived.literal().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(
            text == "x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff'"
        )
    }

    @Test func derivedKeyIsNotPrinted() throws {
        let derived = try DatabaseKey.raw(SecretBytes.random(count: 32)).derive(salt: Array(0..<16), format: .v4)
        var dumped = ""
        dump(derived, to: &dumped)
        #expect("\(derived)" == "DerivedKey(redacted)" && dumped.contains("redacted"))
        #expect(Mirror(reflecting: derived).children.isEmpty)
    }

    @Test func derivedKeysAreThoseOfTheirSaltAndFormat() throws {
        let key = try DatabaseKey.passphrase("secret")
        let keys = DerivedKeys(key)
        for _ in 0..<2 {
            for salt in [Array<UInt8>(0..<16), Array(1..<17)] {
                for format in [CipherFormat.v1, .v2, .v3, try CipherFormat(.v1) { $0.pageSize = 4096 }] {
                    #expect(try keys.derive(salt: salt, format: format) == key.derive(salt: salt, format: format))
                }
            }
        }
    }

    @Test func parametersOfMACKeyCount() throws {
        let raw = try DatabaseKey.random()
        let salt = [UInt8](0..<16)
        let format = try CipherFormat {
            $0.macSaltMask = 0x55
            $0.macKeyIterations = 7
            $0.macKeyDerivation = .sha256
        }
        let key = try KeyDerivation.pageAuthenticationKey(for: raw.derive(salt: salt, format: format), format: format)
        let page = try raw.derive(salt: salt, format: format).withPageKey { try SecretBytes(copying: $0) }
        let expected = try KeyDerivation.pbkdf2(
            .sha256,
            password: page,
            salt: salt.map { $0 ^ 0x55 },
            iterations: 7,
            count: 32
        )
        #expect(try key == expected)
    }

    @Test func saltOfKeyWinsOverFiles() throws {
        let (mine, files) = ([UInt8](0..<16), [UInt8](16..<32))
        let key = try DatabaseKey.random()
        #expect(try key.with(salt: mine).derive(salt: files, format: .v4).salt == mine)
        #expect(try key.derive(salt: files, format: .v4).salt == files)
        #expect(throws: MalformedKey.wrongSaltLength(expected: 16, found: 15)) {
            try key.with(salt: Array(mine.dropLast()))
        }
    }
}
