import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Keyrings that are not what was written: none opens, and each is refused for a reason.
@Suite struct KeyringMutationTests {
    let directory: TemporaryDirectory
    let bytes: [UInt8]
    let other: [UInt8]
    let secrets: [KeyringSecret]

    init() throws {
        let directory = try TemporaryDirectory()
        let code = try RecoveryCode.random()
        let secrets: [KeyringSecret] = [
            try .passphrase("first"), try .passphrase("second"), try .keyFile(.random(count: 40)),
            .recoveryCode(code),
        ]
        let fast = PassphraseDerivation(checked: .pbkdf2SHA512(iterations: 3))
        func make(_ name: String) throws -> [UInt8] {
            let keyring = Keyring(path: directory.file(name))
            let unlocked = try keyring.create(with: secrets[0], label: "Ada", derivation: fast)
            try unlocked.add(secrets[1], label: "Grace", derivation: fast)
            try unlocked.add(secrets[2], label: "server")
            try unlocked.add(code, typedBack: RecoveryCode(typed: code.text()))
            try unlocked.withLock { locked in
                _ = try locked.beginRotation()
                try locked.finishRotation(salt: Array(repeating: 3, count: 16))
                _ = try locked.beginRotation()
            }
            return Array(try Data(contentsOf: URL(fileURLWithPath: keyring.path)))
        }
        self.directory = directory
        self.secrets = secrets
        bytes = try make("a")
        other = try make("b")
    }

    /// With a new digest, as one makes it who has no secret.
    private func digested(_ bytes: [UInt8]) throws -> [UInt8] {
        let end = bytes.count - KeyringContent.codeSize - KeyringContent.digestSize
        guard end > 0 else { return bytes }
        return try bytes[..<end] + Cryptography.sha256(bytes[..<end]) + bytes.suffix(KeyringContent.codeSize)
    }

    /// Why each secret does not open `mutant`. A file that says what the sound one says opens; none else may.
    private func refusals(_ mutant: [UInt8]) throws -> [KeyringError] {
        let keyring = Keyring(path: try directory.write(mutant, to: "mutant"))
        return secrets.compactMap { secret in
            do {
                let unlocked = try keyring.unlock(secret, upgrades: false)
                Issue.record("\(secret.kind) opens a keyring that differs: \(unlocked)")
                return nil
            } catch {
                #expect(error is KeyringError, "\(error)")
                return error as? KeyringError
            }
        }
    }

    /// Where the parts of a slot begin: kind, label, function, parameters, salt, key.
    private func slots(_ bytes: [UInt8]) throws -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        let content = try KeyringContent(bytes)
        var end = bytes.count - KeyringContent.codeSize - KeyringContent.digestSize
        for slot in content.slots.reversed() {
            let size = 2 + 1 + 2 + 16 + 1 + slot.label.utf8.count + 13 + 16 + 40
            ranges.insert((end - size)..<end, at: 0)
            end -= size
        }
        return ranges
    }

    @Test func flippedBitIsDetected() throws {
        for place in bytes.indices {
            // What is behind the version is under the digest, whichever bit it is.
            let bits = Extent.isComplete || place < 10 ? Array(0..<8) : [place % 8]
            for bit in bits {
                var mutant = bytes
                mutant[place] ^= 1 << bit
                let path = directory.file("mutant")
                let expected =
                    switch place {
                    case 0..<8: KeyringError(.notAKeyring, path: path)
                    case 8..<10:
                        KeyringError(.unknownVersion, path: path, version: 1 ^ 1 << (bit + (place == 8 ? 8 : 0)))
                    // The code proves nothing to those who have no secret.
                    case (bytes.count - KeyringContent.codeSize)...: KeyringError(.altered, path: path)
                    default: KeyringError(.damaged, path: path)
                    }
                #expect(try refusals(mutant) == Array(repeating: expected, count: 4), "\(place) \(bit)")
            }
        }
    }

    @Test func alteredKeyringIsRefused() throws {
        let places = bytes.indices.dropLast(KeyringContent.codeSize + KeyringContent.digestSize)
        for place in places {
            // The number of iterations is left to the test below: some of these take their time.
            for bit in Extent.isComplete ? Array(0..<8) : [place % 8] {
                var mutant = bytes
                mutant[place] ^= 1 << bit
                #expect(try refusals(digested(mutant)).count == 4, "\(place) \(bit)")
            }
        }
    }

    @Test func truncatedKeyringIsRefused() throws {
        for count in 0..<bytes.count {
            let expected = KeyringError(
                count < 8 ? .notAKeyring : .damaged,
                path: directory.file("mutant"),
                offset: (8..<10).contains(count) ? 8 : nil
            )
            #expect(try refusals(Array(bytes.prefix(count))) == Array(repeating: expected, count: 4), "\(count)")
            // Cut, and made to look whole.
            guard count != bytes.count - 96 else { continue }
            #expect(try refusals(digested(Array(bytes.prefix(count)) + bytes.suffix(96))).count == 4)
        }
        for count in [1, 100, 1 << 16, 1 << 20] {
            let expected = KeyringError(count > 100 ? .notAKeyring : .damaged, path: directory.file("mutant"))
            #expect(try refusals(bytes + Array(repeating: 0, count: count)).allSatisfy { $0 == expected })
        }
    }

    @Test func rearrangedSlotsAreRefused() throws {
        let own = try slots(bytes)
        let foreign = try slots(other)
        for first in own.indices {
            for second in own.indices where second != first {
                var mutant = bytes
                var parts = own.map { Array(bytes[$0]) }
                parts.swapAt(first, second)
                mutant.replaceSubrange(own[0].lowerBound..<own[3].upperBound, with: parts.joined())
                #expect(try refusals(digested(mutant)).map(\.code) == Array(repeating: .altered, count: 4))
                parts[first] = parts[second]
                mutant = bytes
                mutant.replaceSubrange(own[0].lowerBound..<own[3].upperBound, with: parts.joined())
                #expect(try refusals(digested(mutant)).count == 4)
            }
            var mutant = bytes
            mutant.removeSubrange(own[first])
            mutant[own[0].lowerBound - 1] -= 1
            let removed = try refusals(digested(mutant))
            #expect(removed.indices.allSatisfy { removed[$0].code == ($0 == first ? .wrongSecret : .altered) })
            mutant = bytes
            mutant.replaceSubrange(own[first], with: other[foreign[first]])
            let replaced = try refusals(digested(mutant))
            #expect(replaced.indices.allSatisfy { replaced[$0].code == ($0 == first ? .wrongSecret : .altered) })
        }
    }

    @Test func alteredKDFParametersAreRefused() throws {
        let functions: [[UInt32]] = [
            [0, 0, 0, 0], [1, 3, 0, 0], [2, 1, 0, 0], [2, 0, 0, 0], [2, 100_000, 0, 0], [2, 2_304_001, 0, 0],
            [2, .max, 0, 0], [2, 3, 1, 0], [3, 1, 1, 1], [3, 31, 8, 1], [3, 20, 64, 64], [3, 16, 8, 64],
            [3, 63, 63, 63],
            [3, .max, .max, .max], [4, 8, 1, 1], [4, 65_537, 1, 1], [4, .max, .max, .max], [4, 65_536, 1000, 1],
            [5, 1, 1, 1],
            [255, 0, 0, 0],
        ]
        for slot in try slots(bytes) {
            for function in functions {
                var mutant = bytes
                let place = slot.upperBound - 40 - 16 - 13
                mutant[place] = UInt8(function[0])
                for index in 0..<3 {
                    for byte in 0..<4 {
                        mutant[place + 1 + index * 4 + byte] = UInt8(
                            truncatingIfNeeded: function[index + 1] >> (24 - 8 * byte)
                        )
                    }
                }
                guard mutant != bytes else { continue }
                #expect(try refusals(digested(mutant)).count == 4, "\(function)")
            }
        }
    }

    @Test func junkIsRefused() throws {
        var random = SplitMix(20_261_121)
        for _ in 0..<(Extent.isComplete ? 2000 : 300) {
            var mutant = bytes
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                // Not the functions' parameters, which would take their time.
                let place = Int.random(in: 10..<100, using: &random)
                mutant[place] = UInt8.random(in: 0...255, using: &random)
            }
            guard mutant != bytes else { continue }
            #expect(try refusals(digested(mutant)).count == 4)
        }
        for _ in 0..<(Extent.isComplete ? 1000 : 200) {
            let count = Int.random(in: 0...2000, using: &random)
            let junk = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try refusals([0] + junk).map(\.code) == Array(repeating: .notAKeyring, count: 4))
            #expect(try refusals(digested(Array(bytes.prefix(10)) + junk)).count == 4)
        }
    }
}
