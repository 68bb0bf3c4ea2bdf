import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherKeys

@Suite struct KeyringTests {
    let directory: TemporaryDirectory
    let keyring: Keyring

    init() throws {
        directory = try TemporaryDirectory()
        keyring = Keyring(path: directory.file("a.keyring"))
    }

    /// A passphrase takes no time; see `upgrades`.
    static let fast = PassphraseDerivation(checked: .pbkdf2SHA512(iterations: 10))

    func make() throws -> UnlockedKeyring {
        try keyring.create(with: .passphrase("first"), label: "Ada", derivation: Self.fast)
    }

    func unlock(_ secret: KeyringSecret) throws -> UnlockedKeyring {
        try keyring.unlock(secret, upgrades: false)
    }

    @Test func everySlotGivesSameDatabaseKey() throws {
        let key = try make().databaseKey()
        let file = try SecretBytes.random(count: 100)
        let code = try RecoveryCode.random()
        let first = try unlock(.passphrase("first"))
        #expect(try first.add(.passphrase("second"), label: "Grace", derivation: Self.fast) == 2)
        #expect(try first.add(.keyFile(file), label: "server") == 3)
        #expect(try first.add(.external(file)) == 4)
        #expect(try first.add(code, typedBack: RecoveryCode(typed: code.text())) == 5)
        for (number, secret) in [
            (1, try KeyringSecret.passphrase("first")), (2, try .passphrase("second")), (3, try .keyFile(file)),
            (4, try .external(file)), (5, .recoveryCode(code)),
        ] {
            let unlocked = try unlock(secret)
            #expect(try unlocked.databaseKey() == key)
            #expect(unlocked.slot == number)
        }
        #expect(throws: KeyringError(.wrongSecret, path: keyring.path)) { try unlock(.passphrase("third")) }
        #expect(throws: KeyringError(.wrongSecret, path: keyring.path)) {
            try unlock(.recoveryCode(.random()))
        }
    }

    @Test func newKeyringHasRandomKeyAndIsPrivate() throws {
        let other = Keyring(path: directory.file("b.keyring"))
        let keys = [
            try make().databaseKey(),
            try other.create(with: .passphrase("first"), derivation: Self.fast).databaseKey(),
        ]
        #expect(try !(keys[0] == keys[1]))
        #expect(try Platform.status(of: keyring.path).mode == 0o600)
        #expect(directory.names == ["a.keyring", "b.keyring"])
    }

    @Test func contentIsReadableWithoutSecret() throws {
        let unlocked = try make()
        try unlocked.add(.keyFile(.random(count: 32)), label: "server")
        let content = try keyring.content()
        #expect(content == (try unlocked.content()))
        #expect(content.generation == 1)
        #expect(content.writer == CipherDBVersion.current)
        #expect(content.slots.map(\.number) == [1, 2])
        #expect(content.slots.map(\.label) == ["Ada", "server"])
        #expect(content.slots.map(\.kind) == [.passphrase, .keyFile])
        #expect(content.slots.map(\.derivation) == [Self.fast, nil])
        #expect(content.created.timeIntervalSinceNow > -86400 && content.keyCreated == content.created)
        #expect(!content.isRotationPending)
    }

    @Test func existingFileIsNotReplaced() throws {
        _ = try make()
        let before = try FileState(keyring.path)
        expect(throws: KeyringError.exists) { _ = try make() }
        #expect(try FileState(keyring.path) == before)
        #expect(directory.names == ["a.keyring"])
    }

    @Test func onlyNewSecretUnlocksAfterChange() throws {
        let unlocked = try make()
        let key = try unlocked.databaseKey()
        try unlocked.change(slot: 1, to: .passphrase("other"), derivation: Self.fast)
        #expect(try unlock(.passphrase("other")).databaseKey() == key)
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(.passphrase("first")) }
        #expect(try keyring.content().slots.map(\.label) == ["Ada"])
    }

    @Test func changeNeedsOldSecret() throws {
        let key = try make().databaseKey()
        try keyring.change(.passphrase("first"), to: .passphrase("other"), derivation: Self.fast)
        #expect(try unlock(.passphrase("other")).databaseKey() == key)
        let before = try FileState(keyring.path)
        expect(throws: KeyringError.wrongSecret) { try keyring.change(.passphrase("first"), to: .passphrase("third")) }
        #expect(throws: UnusablePassphraseDerivation.self) {
            try keyring.change(
                .passphrase("other"),
                to: .passphrase("third"),
                derivation: PassphraseDerivation(.pbkdf2SHA512(iterations: 1000))
            )
        }
        #expect(try FileState(keyring.path) == before)
    }

    /// Somebody without a secret may write what he likes, with the right digest.
    @Test func keyringAlteredAfterUnlockIsRefused() throws {
        let unlocked = try make()
        let bytes = try Array(FileState(keyring.path).bytes)
        var content = try unlocked.content()
        content.generation += 7
        content.retired = [RetiredKey(key: content.current, retired: content.created)]
        let altered = try content.encoded() + bytes.suffix(KeyringContent.codeSize)
        try Data(altered).write(to: URL(fileURLWithPath: keyring.path))
        #expect(try keyring.content() == content)
        let uses: [(String, () throws -> Void)] = [
            ("content", { _ = try unlocked.content() }), ("slots", { _ = try unlocked.content().slots }),
            ("key", { _ = try unlocked.databaseKey() }), ("retired", { _ = try unlocked.retiredKeys() }),
            ("backup", { try unlocked.backUp(to: directory.file("copy")) }),
            ("lock", { try unlocked.withLock { _ in } }),
            ("add", { try unlocked.add(.keyFile(.random(count: 32))) }),
            ("forget", { try unlocked.forgetOlderKeys() }), ("note", { try unlocked.note(1, of: Array(0..<16)) }),
        ]
        for (name, use) in uses { expect(throws: KeyringError.altered, "\(name)") { try use() } }
        #expect(try Array(FileState(keyring.path).bytes) == altered && directory.names == ["a.keyring"])
    }

    @Test func nothingSecretIsPrinted() throws {
        let unlocked = try make()
        let code = try RecoveryCode.random()
        let secrets: [Any] = [unlocked, try KeyringSecret.passphrase("first"), code, KeyringSecret.recoveryCode(code)]
        let text = try code.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        for secret in secrets {
            var dumped = ""
            dump(secret, to: &dumped)
            let shown = dumped + String(describing: secret) + String(reflecting: secret)
            #expect(!shown.contains("first") && !shown.contains(text.prefix(5)) && shown.contains("redacted"))
            #expect(Mirror(reflecting: secret).children.isEmpty)
        }
    }
}
