import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// All that must not be guessed has all its bits from OpenSSL's generator.
@Suite struct RandomnessTests {
    private static func bytes(_ secret: SecretBytes) throws -> [UInt8] { try secret.withUnsafeBytes { Array($0) } }

    private func expectRandom(_ count: Int, _ make: () throws -> [UInt8]) rethrows {
        let samples = try (0..<64).map { _ in try make() }
        #expect(samples.allSatisfy { $0.count == count })
        #expect(RandomBits.constant(in: samples) == [])
    }

    @Test func randomSecretsDiffer() throws {
        for count in [1, 16, 32, 48, 100] { try expectRandom(count) { try Self.bytes(.random(count: count)) } }
        try expectRandom(32) { try Self.bytes(DatabaseKey.random().exported()).withoutHexadecimal() }
    }

    @Test func recoveryCodesAreRandom() throws {
        try expectRandom(20) { try Self.bytes(RecoveryCode.random().bytes) }
    }

    @Test func keyringsAreRandom() throws {
        let secret = try KeyringSecret.keyFile(.random(count: 32))
        let keyrings = try (0..<64).map { _ in try KeyringContent.new(secret, "", .standard) }
        #expect(RandomBits.constant(in: try keyrings.map { try Self.bytes($0.masterKey) }) == [])
        #expect(RandomBits.constant(in: keyrings.map(\.content.identifier)) == [])
        #expect(RandomBits.constant(in: keyrings.map { $0.content.slots[0].salt }) == [])
        let (content, masterKey) = keyrings[0]
        let keys = try (0..<64).map { _ in
            try content.databaseKey(KeyringContent.newKey(content.identifier, masterKey), masterKey)
        }
        #expect(RandomBits.constant(in: try keys.map { try Self.bytes($0.exported()).withoutHexadecimal() }) == [])
        #expect(
            try keyrings.allSatisfy { try Self.bytes($0.masterKey).count == 32 && $0.content.slots[0].salt.count == 16 }
        )
    }

    @Test func everySlotHasItsOwnSalt() throws {
        let directory = try TemporaryDirectory()
        let keyring = Keyring(path: directory.file("keyring"))
        let unlocked = try keyring.create(with: .keyFile(.random(count: 32)))
        for _ in 0..<8 { try unlocked.add(.external(.random(count: 32))) }
        try unlocked.change(slot: 2, to: .external(.random(count: 32)))
        #expect(try Set(keyring.content().slots.map(\.salt)).count == 9)
    }
}

extension [UInt8] {
    /// The bytes that these hexadecimal digits spell.
    fileprivate func withoutHexadecimal() -> [UInt8] {
        let digits = String(decoding: self, as: UTF8.self)
        return stride(from: 0, to: count, by: 2).compactMap {
            UInt8(digits.dropFirst($0).prefix(2), radix: 16)
        }
    }
}
