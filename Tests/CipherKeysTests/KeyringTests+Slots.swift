import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Their numbers, labels, derivations and recovery codes.
extension KeyringTests {
    @Test func slotIsNamedByItsLabel() throws {
        let unlocked = try make()
        try unlocked.add(.passphrase("second"), label: "Bob", derivation: Self.fast)
        let file = try KeyringSecret.keyFile(.random(count: 32))
        try unlocked.change(label: "Bob", to: file)
        #expect(try unlock(file).slot == 2)
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(.passphrase("second")) }
        #expect(try unlocked.content().slots.map(\.label) == ["Ada", "Bob"], "the label stays")
        expect(throws: KeyringError.lastSlot) { try unlocked.remove(label: "Ada") }
        try unlocked.remove(label: "Bob")
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(file) }
        expect(throws: KeyringError.noSuchLabel, where: { $0.label == "Bob" }) { try unlocked.remove(label: "Bob") }
        expect(throws: KeyringError.onlySlot) { try unlocked.remove(label: "Ada", force: true) }
    }

    @Test func labelOfSeveralSlotsNamesNone() throws {
        let unlocked = try make()
        try unlocked.add(.keyFile(.random(count: 32)), label: "Bob")
        try unlocked.add(.keyFile(.random(count: 32)), label: "Bob")
        try unlocked.add(.keyFile(.random(count: 32)))
        let before = try FileState(keyring.path)
        expect(throws: KeyringError.labelNotUnique, where: { $0.slots == [2, 3] }) { try unlocked.remove(label: "Bob") }
        expect(throws: KeyringError.labelNotUnique, where: { $0.slots == [2, 3] }) {
            try unlocked.change(label: "Bob", to: .keyFile(.random(count: 32)))
        }
        expect(throws: KeyringError.noSuchLabel, where: { $0.label == "" }) { try unlocked.remove(label: "") }
        #expect(try FileState(keyring.path) == before)
        #expect("\(KeyringError(.labelNotUnique, slots: [2, 3]))".contains("slots 2 and 3"))
    }

    @Test func removingLastPassphraseNeedsForce() throws {
        let unlocked = try make()
        let file = try KeyringSecret.keyFile(.random(count: 32))
        try unlocked.add(file)
        expect(throws: KeyringError.lastSlot) { try unlocked.remove(slot: 1) }
        expect(throws: KeyringError.lastSlot) { try unlocked.change(slot: 1, to: .keyFile(.random(count: 32))) }
        try unlocked.remove(slot: 1, force: true)
        expect(throws: KeyringError.onlySlot) { try unlocked.remove(slot: 2, force: true) }
        _ = try unlock(file)
    }

    @Test func removedSlotOpensNothing() throws {
        let unlocked = try make()
        try unlocked.add(.passphrase("second"), derivation: Self.fast)
        try unlocked.remove(slot: 1)
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(.passphrase("first")) }
        _ = try unlock(.passphrase("second"))
        expect(throws: KeyringError.noSuchSlot, where: { $0.slots == [1] }) { try unlocked.remove(slot: 1) }
    }

    @Test func recoveryCodeMustBeTypedBack() throws {
        let unlocked = try make()
        let code = try RecoveryCode.random()
        expect(throws: KeyringError.notConfirmed) {
            try unlocked.add(code, typedBack: RecoveryCode(typed: RecoveryCode.random().text()))
        }
        #expect(throws: MalformedKey.recoveryCodeTooShort(groups: 0)) {
            try unlocked.add(code, typedBack: RecoveryCode(typed: "7KQ2"))
        }
        expect(throws: KeyringError.notConfirmed) { try unlocked.add(code, typedBack: code) }
        expect(throws: KeyringError.notTypedBack) { try unlocked.add(.recoveryCode(code)) }
        #expect(try keyring.content().slots.count == 1)
    }

    @Test func typedRecoveryCodeIsSecretOfSlot() throws {
        let unlocked = try make()
        let text = try RecoveryCode.random().text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let typed = try RecoveryCode(typed: text.lowercased())
        #expect(try unlocked.add(.recoveryCode(typed)) == 2 && unlock(.recoveryCode(typed)).slot == 2)
        try unlocked.change(slot: 1, to: .recoveryCode(RecoveryCode(typed: RecoveryCode.random().text())))
        #expect(try keyring.content().slots.map(\.kind) == [.recoveryCode, .recoveryCode])
    }

    @Test func thirtyThirdSlotIsRefused() throws {
        let unlocked = try make()
        let file = try KeyringSecret.keyFile(.random(count: 32))
        try unlocked.add(file)
        for _ in 0..<30 { try unlocked.add(.keyFile(.random(count: 32))) }
        expect(throws: KeyringError.full) { try unlocked.add(.keyFile(.random(count: 32))) }
        #expect(try unlock(file).slot == 2)
        expect(throws: KeyringError.secretInUse, where: { $0.slots == [2] }) { try unlocked.add(file) }
    }

    @Test func secretOfAnotherSlotIsRefused() throws {
        let unlocked = try make()
        let file = try KeyringSecret.keyFile(.random(count: 32))
        let other = try KeyringSecret.keyFile(.random(count: 32))
        try unlocked.add(file)
        try unlocked.add(other)
        expect(throws: KeyringError.secretInUse, where: { $0.slots == [3] }) { try unlocked.change(slot: 2, to: other) }
        expect(throws: KeyringError.secretInUse, where: { $0.slots == [3] }) { try keyring.change(file, to: other) }
        #expect(try unlock(file).slot == 2 && unlock(other).slot == 3)
        try unlocked.change(slot: 2, to: file)
        #expect(try keyring.content().slots.map(\.number) == [1, 2, 3])
    }

    @Test(.slow) func costlyPassphrasesNeedSlotNumber() throws {
        let unlocked = try make()
        for name in ["second", "third"] { try unlocked.add(.passphrase(name), derivation: Self.fast) }
        #expect(try !unlocked.content().needsSlotNumber)
        // As costly as can be. Made so afterwards: it costs seconds to try, and is not to be tried.
        try unlocked.update { content in
            let slot = content.slots[1]
            content.slots[1] = KeyringSlot(
                number: slot.number,
                kind: slot.kind,
                label: slot.label,
                created: slot.created,
                changed: slot.changed,
                kindNumber: slot.kindNumber,
                kdf: .derived(PassphraseDerivation(checked: .pbkdf2SHA256(iterations: 4_500_000))),
                salt: slot.salt,
                command: slot.command,
                wrapped: slot.wrapped
            )
        }
        #expect(try unlocked.content().needsSlotNumber)
        expect(throws: KeyringError.tooManySlots) { _ = try unlock(.passphrase("third")) }
        #expect(try keyring.unlock(.passphrase("third"), slot: 3, upgrades: false).slot == 3)
        expect(throws: KeyringError.noSuchSlot, where: { $0.slots == [9] }) {
            _ = try keyring.unlock(.passphrase("third"), slot: 9)
        }
    }

    @Test(arguments: [
        PassphraseDerivation.Function.pbkdf2SHA512(iterations: 219_999), .pbkdf2SHA256(iterations: 599_999),
        .scrypt(logCost: 14, blockSize: 8, parallelism: 4), .scrypt(logCost: 17, blockSize: 4, parallelism: 1),
    ])
    func weakSlotIsUpgradedAtUnlock(function: PassphraseDerivation.Function) throws {
        let weak = try PassphraseDerivation(unsafeWeak: function)
        let made = try keyring.create(with: .passphrase("first"), derivation: weak)
        let key = try made.databaseKey()
        try made.add(.passphrase("second"), derivation: Self.fast)
        _ = try keyring.unlock(.passphrase("first"), upgrades: false)
        let before = try keyring.content()
        #expect(before.slots.map(\.derivation) == [weak, Self.fast])
        let unlocked = try keyring.unlock(.passphrase("first"))
        let after = try unlocked.content()
        #expect(after.slots.map(\.derivation) == [.standard, Self.fast])
        #expect(after.slots[0].salt != before.slots[0].salt && after.slots[0].wrapped != before.slots[0].wrapped)
        #expect(after.slots[1] == before.slots[1] && after.generation == before.generation + 1)
        #expect(try unlocked.databaseKey() == key)
        // One that is strong stays.
        #expect(try keyring.unlock(.passphrase("first")).databaseKey() == key)
        #expect(try keyring.content() == after)
    }

    @Test func newPassphraseSlotsUseScrypt() throws {
        let unlocked = try keyring.create(with: .passphrase("first"))
        #expect(
            try unlocked.content().slots[0].derivation?.function == .scrypt(logCost: 14, blockSize: 8, parallelism: 5)
        )
        #expect(!PassphraseDerivation.standard.isWeak && !PassphraseDerivation.pbkdf2.isWeak)
    }

    /// Slots that open without their numbers go on to do so.
    @Test func upgradeKeepsSlotNumberOptional() throws {
        let unlocked = try make()
        let costly = try PassphraseDerivation(unsafeWeak: .pbkdf2SHA512(iterations: 1_900_000))
        try unlocked.add(.passphrase("second"), derivation: costly)
        _ = try keyring.unlock(.passphrase("first"))
        #expect(try keyring.content().slots[0].derivation == .pbkdf2)
        #expect(try !keyring.content().needsSlotNumber)
    }

    @Test func unusableLabelsAreRefused() throws {
        let unlocked = try make()
        let file = try KeyringSecret.keyFile(.random(count: 32))
        expect(throws: KeyringError.unusableLabel) { try unlocked.add(file, label: String(repeating: "é", count: 65)) }
        expect(throws: KeyringError.unusableLabel) { try unlocked.add(file, label: "\u{1b}[2J") }
        try unlocked.add(file, label: String(repeating: "é", count: 64))
    }

    @Test func shortRawSecretIsRefused() {
        for make in [KeyringSecret.keyFile, KeyringSecret.external] {
            #expect(throws: MalformedKey.secretTooShort(count: 31)) { try make(.random(count: 31)) }
        }
        #expect(throws: MalformedKey.emptyPassphrase) { try KeyringSecret.passphrase("") }
    }

    @Test func concurrentlyChangedSlotIsKept() throws {
        let unlocked = try make()
        let stale = try unlock(.passphrase("first"))
        try unlocked.change(slot: 1, to: .passphrase("other"), derivation: Self.fast)
        // What unlocking with the old passphrase would do, had it begun before.
        try stale.upgrade(.passphrase("first"))
        #expect(throws: KeyringError(.slotChanged, path: keyring.path, slots: [1])) {
            try stale.change(stale.opened, to: KeyringContent.DerivedSecret(.passphrase("first"), Self.fast))
        }
        _ = try unlock(.passphrase("other"))
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(.passphrase("first")) }
    }

    @Test func recoveryCodeNeedsConfirmation() throws {
        let code = try KeyringSecret.recoveryCode(.random())
        expect(throws: KeyringError.notTypedBack) { try keyring.create(with: code) }
        let unlocked = try make()
        expect(throws: KeyringError.notTypedBack) { try unlocked.change(slot: 1, to: code) }
        expect(throws: KeyringError.notTypedBack) { try keyring.change(.passphrase("first"), to: code) }
    }

    /// A keyring's passphrase never reaches SQLCipher.
    @Test func passphraseMayLookLikeRawKey() throws {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let unlocked = try make()
        for (number, text) in ["x''", "x'12'", "x'\(digits)'", digits].enumerated() {
            try unlocked.add(.passphrase(text), derivation: Self.fast)
            #expect(try keyring.unlock(.passphrase(text), slot: number + 2, upgrades: false).slot == number + 2)
        }
    }
}
