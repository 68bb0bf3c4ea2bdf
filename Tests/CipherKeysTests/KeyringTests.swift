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
    private static let fast = PassphraseDerivation(checked: .pbkdf2SHA512(iterations: 10))

    private func make() throws -> UnlockedKeyring {
        try keyring.create(with: .passphrase("first"), label: "Ada", derivation: Self.fast)
    }

    private func unlock(_ secret: KeyringSecret) throws -> UnlockedKeyring {
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

    @Test func removedSlotOpensNothing() throws {
        let unlocked = try make()
        try unlocked.add(.passphrase("second"), derivation: Self.fast)
        try unlocked.remove(slot: 1)
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(.passphrase("first")) }
        _ = try unlock(.passphrase("second"))
        expect(throws: KeyringError.noSuchSlot, where: { $0.slots == [1] }) { try unlocked.remove(slot: 1) }
    }

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

    /// A slot that a later version has made may be as large as a keyring can be.
    @Test func unreadableKeyringIsNotWritten() throws {
        let unlocked = try make()
        try unlocked.update { content in
            content.slots.append(
                KeyringSlot(
                    number: 2,
                    kind: nil,
                    label: "",
                    created: content.created,
                    changed: content.created,
                    kindNumber: 200,
                    kdf: .unusable([]),
                    salt: [],
                    command: nil,
                    wrapped: Array(repeating: 7, count: KeyringContent.largestFile - 1500)
                )
            )
        }
        var added = 0
        expect(throws: KeyringError.full) {
            while added < 20 {
                try unlocked.add(.keyFile(.random(count: 32)), label: String(repeating: "l", count: 128))
                added += 1
            }
        }
        #expect((1..<20).contains(added))
        #expect(try unlock(.passphrase("first")).content().slots.count == 2 + added)
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

    /// A keyring's passphrase never reaches SQLCipher.
    @Test func passphraseMayLookLikeRawKey() throws {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let unlocked = try make()
        for (number, text) in ["x''", "x'12'", "x'\(digits)'", digits].enumerated() {
            try unlocked.add(.passphrase(text), derivation: Self.fast)
            #expect(try keyring.unlock(.passphrase(text), slot: number + 2, upgrades: false).slot == number + 2)
        }
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

    @Test func readOnlyKeyringUnlocks() throws {
        let key = try make().databaseKey()
        let readOnly = directory.file("directory")
        try FileManager.default.createDirectory(atPath: readOnly, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: keyring.path, toPath: readOnly + "/a.keyring")
        let copy = Keyring(path: readOnly + "/a.keyring")
        let (outcome, met) = FaultInjection.with(
            FaultInjection.Order(prefix: copy.path, call: .open, after: 0, code: EROFS)
        ) {
            try copy.unlock(.passphrase("first")).databaseKey()
        }
        #expect(try outcome.get() == key && met)
    }

    /// Somebody else replaces the keyring between its opening and its lock.
    @Test func keyringReplacedBeforeLockIsReopened() throws {
        let unlocked = try make()
        let (path, other) = (keyring.path, directory.file("other"))
        try unlocked.backUp(to: other)
        let second = try KeyringSecret.keyFile(.random(count: 32))
        try Keyring(path: other).unlock(.passphrase("first"), upgrades: false).add(second)
        let order = FaultInjection.Order(prefix: path, call: .lock, after: 0, code: nil) {
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.moveItem(atPath: other, toPath: path)
        }
        let (outcome, met) = FaultInjection.with(order) { try unlocked.add(.external(.random(count: 32))) }
        #expect(try outcome.get() == 3 && met)
        #expect(try keyring.unlock(second).slot == 2)
    }

    @Test func unreadableNewKeyringIsNotWritten() throws {
        let (content, masterKey) = try KeyringContent.new(.keyFile(.random(count: 32)), "", .standard)
        var broken = content
        broken.writer = String(repeating: "1", count: 33)
        #expect(throws: (any Error).self) { try broken.sealed(masterKey) }
        broken = content
        broken.slots.append(content.slots[0])
        #expect(throws: (any Error).self) { try broken.sealed(masterKey) }
    }

    /// The order of names in one directory, which a crash keeps, says nothing of the directory of the database.
    @Test func keyringIsSyncedOnReturn() throws {
        // Orders without a code let the call go well.
        func syncs(_ count: Int, _ body: () throws -> Void) throws -> Bool {
            let (outcome, met) = FaultInjection.with(
                FaultInjection.Order(prefix: keyring.path, call: .sync, after: count - 1, code: nil),
                body
            )
            try outcome.get()
            return met
        }
        #expect(try syncs(2) { _ = try make() })
        let unlocked = try unlock(.passphrase("first"))
        let new = FaultInjection.Order(prefix: keyring.path + ".new-", call: .sync, after: 0, code: nil)
        #expect(FaultInjection.with(new) { try unlocked.add(.passphrase("second"), derivation: Self.fast) }.met)
        #expect(try syncs(2) { try unlocked.add(.passphrase("third"), derivation: Self.fast) })
        #expect(try syncs(2) { try keyring.erase() })
    }

    /// After the rename the new content is in force, whatever fails.
    @Test func unsyncedRenameIsReported() throws {
        let unlocked = try make()
        let order = FaultInjection.Order(prefix: keyring.path, call: .sync, after: 1, code: EIO)
        let (outcome, met) = FaultInjection.with(order) {
            try keyring.change(.passphrase("first"), to: .passphrase("second"), derivation: Self.fast)
        }
        #expect(met)
        expect(throws: KeyringError.notSynced, where: { $0.errno == EIO }) { try outcome.get() }
        #expect("\(KeyringError(.notSynced, path: "k", errno: EIO))".contains("could not be synced"))
        expect(throws: KeyringError.wrongSecret) { _ = try unlock(.passphrase("first")) }
        _ = try unlock(.passphrase("second"))
        _ = unlocked
    }

    @Test func interruptedEraseCanBeRepeated() throws {
        _ = try make()
        let order = FaultInjection.Order(prefix: keyring.path, call: .unlink, after: 0, code: EIO)
        let (outcome, met) = FaultInjection.with(order) { try keyring.erase() }
        #expect(throws: KeyringError.self) { try outcome.get() }
        #expect(met)
        expect(throws: KeyringError.damaged, where: { $0.offset == nil }) { _ = try unlock(.passphrase("first")) }
        try keyring.erase()
        #expect(directory.names.isEmpty)
    }

    /// Noise must not stay as the keyring.
    @Test(arguments: [FaultInjection.Call.write, .sync])
    func unwritableKeyringIsErasedAllTheSame(call: FaultInjection.Call) throws {
        _ = try make()
        let order = FaultInjection.Order(prefix: keyring.path, call: call, after: 0, code: EIO)
        let (outcome, met) = FaultInjection.with(order) { try keyring.erase() }
        #expect(throws: KeyringError.self) { try outcome.get() }
        #expect(met && directory.names.isEmpty)
    }

    /// A service on a full or read-only disk is to find it, and goes on to read.
    @Test(arguments: [ENOSPC, EROFS, EACCES])
    func existingKeyringIsFoundWithoutWriting(code: Int32) throws {
        _ = try make()
        let order = FaultInjection.Order(prefix: keyring.path + ".new-", call: .open, after: 0, code: code)
        let (outcome, met) = FaultInjection.with(order) { try keyring.create(with: .passphrase("first")) }
        expect(throws: KeyringError.exists) { try outcome.get() }
        #expect(!met)
    }

    /// Readers, and a crash, find the old or the new one, whole.
    @Test func keyringIsReplacedAndNeverWrittenOver() throws {
        let unlocked = try make()
        let before = try FileState(keyring.path).bytes
        let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: keyring.path))
        try unlocked.add(.passphrase("second"), derivation: Self.fast)
        #expect(try reader.readToEnd() == before)
        #expect(try FileState(keyring.path).bytes != before)
    }

    @Test func replacedKeyringIsDetected() throws {
        let unlocked = try make()
        try FileManager.default.removeItem(atPath: keyring.path)
        let other = try make()
        expect(throws: KeyringError.replaced) { _ = try unlocked.databaseKey() }
        expect(throws: KeyringError.replaced) { try unlocked.add(.passphrase("second"), derivation: Self.fast) }
        #expect(try other.content().slots.count == 1)
    }

    @Test func writersWaitForEachOtherAndLoseNothing() throws {
        let unlocked = try make()
        let keyring = keyring
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for number in 0..<5 {
                #expect(throws: Never.self) {
                    try LockWait.limiting(to: LockWait(limit: .seconds(600))) {
                        try Keyring(path: keyring.path).unlock(.passphrase("first"), upgrades: false)
                            .add(.keyFile(.random(count: 32)), label: "\(worker)/\(number)")
                    }
                }
            }
        }
        let content = try unlocked.content()
        #expect(content.generation == 20)
        #expect(Set(content.slots.map(\.label)).count == 21)
        #expect(directory.names == ["a.keyring"])
    }

    @Test func keyringLockTimesOut() throws {
        let unlocked = try make()
        try unlocked.withLock { _ in
            _ = expect(throws: KeyringError.busy) {
                try unlocked.withLock(waiting: .milliseconds(20)) { _ in }
            }
        }
    }

    @Test func keyringIsWrittenThroughSymbolicLink() throws {
        _ = try make()
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: keyring.path)
        try Keyring(path: link).unlock(.passphrase("first"), upgrades: false).add(.keyFile(.random(count: 32)))
        #expect(try keyring.content().slots.count == 2)
        #expect(try Platform.statusOfLink(link).kind == .other)
    }

    @Test func similarlyNamedFileIsKept() throws {
        let unlocked = try make()
        let own = [
            "a.keyring.new-backup-of-monday", "a.keyring.new-0123456789ABCDEF", "a.keyring.new-0123456789abcde",
        ]
        let path = String(keyring.path.dropLast("a.keyring".count))
        for name in own { try Data("mine".utf8).write(to: URL(fileURLWithPath: path + name)) }
        try unlocked.add(.keyFile(.random(count: 32)))
        for name in own { #expect(FileManager.default.fileExists(atPath: path + name), "\(name)") }
    }

    @Test func movedKeyringIsNotReplaced() throws {
        _ = try make()
        let file = try KeyringFile(locking: keyring.path, waiting: .zero)
        let bytes = try FileState(keyring.path).bytes
        try FileManager.default.moveItem(atPath: keyring.path, toPath: keyring.path + ".away")
        try Data("another's".utf8).write(to: URL(fileURLWithPath: keyring.path))
        expect(throws: KeyringError.busy) { try file.replace(with: Array(bytes)) }
        #expect(try FileState(keyring.path).bytes == Data("another's".utf8))
    }

    @Test func pathWithNULIsRefused() throws {
        _ = try make()
        let before = try FileState(keyring.path)
        let other = Keyring(path: keyring.path + "\0.copy")
        #expect { try other.erase() } throws: { "\($0)".contains("NUL") }
        #expect(throws: KeyringError.self) { try other.unlock(.passphrase("first")) }
        #expect(throws: KeyringError.self) { try other.content() }
        #expect(throws: KeyringError.self) {
            try Keyring(path: keyring.path + "2\0").create(with: .keyFile(.random(count: 32)))
        }
        #expect(try FileState(keyring.path) == before)
    }

    @Test func writeKeepsPermissionsAndRemovesLeftovers() throws {
        let unlocked = try make()
        chmod(keyring.path, 0o640)
        let leftover = try directory.write("half".utf8, to: "a.keyring.new-0123456789abcdef")
        let other = try directory.write("mine".utf8, to: "a.keyring.new-letter")
        try unlocked.add(.keyFile(.random(count: 32)))
        #expect(try Platform.status(of: keyring.path).mode == 0o640)
        #expect(!FileManager.default.fileExists(atPath: leftover))
        #expect(FileManager.default.fileExists(atPath: other))
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

    @Test func backupOpensWithItsSecrets() throws {
        let unlocked = try make()
        let key = try unlocked.databaseKey()
        let backup = Keyring(path: directory.file("backup"))
        try unlocked.backUp(to: backup.path)
        expect(throws: KeyringError.exists) { try unlocked.backUp(to: backup.path) }
        try unlocked.change(slot: 1, to: .passphrase("other"), derivation: Self.fast)
        #expect(try backup.unlock(.passphrase("first"), upgrades: false).databaseKey() == key)
    }

    @Test func backupReplacesDamagedKeyring() throws {
        let unlocked = try make()
        let key = try unlocked.databaseKey()
        let backup = Keyring(path: directory.file("backup"))
        try unlocked.backUp(to: backup.path)
        let restore = { try backup.unlock(.passphrase("first"), upgrades: false).restore(to: keyring) }
        try unlocked.change(slot: 1, to: .passphrase("other"), derivation: Self.fast)
        let generation = try keyring.content().generation
        try restore()
        #expect(try unlock(.passphrase("first")).databaseKey() == key)
        #expect(try keyring.content().generation > generation)
        for zeros in [0, 400] {
            _ = try directory.write(Array(repeating: 0, count: zeros), to: "a.keyring")
            try restore()
            #expect(try unlock(.passphrase("first")).databaseKey() == key)
        }
        _ = try directory.write(Data(contentsOf: URL(fileURLWithPath: keyring.path)).dropLast(), to: "a.keyring")
        expect(throws: KeyringError.damaged, where: { $0.offset == nil }) { _ = try unlock(.passphrase("first")) }
        try restore()
        #expect(try unlock(.passphrase("first")).databaseKey() == key)
        try keyring.erase()
        try restore()
        #expect(try unlock(.passphrase("first")).databaseKey() == key)
    }

    @Test func mismatchedBackupReplacesNothing() throws {
        let unlocked = try make()
        let backup = Keyring(path: directory.file("backup"))
        try unlocked.backUp(to: backup.path)
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.finishRotation(salt: Array(repeating: 1, count: 16))
        }
        let before = try FileState(keyring.path)
        let saved = try backup.unlock(.passphrase("first"), upgrades: false)
        expect(throws: KeyringError.otherKeys) { try saved.restore(to: keyring) }
        let other = Keyring(path: directory.file("other"))
        try other.create(with: .passphrase("first"), derivation: Self.fast)
        expect(throws: KeyringError.exists) {
            try other.unlock(.passphrase("first"), upgrades: false).restore(to: keyring)
        }
        #expect(try FileState(keyring.path) == before)
    }

    /// Without a secret one can write a sequence number that no later one exceeds.
    @Test func plantedKeyringDoesNotStopRestore() throws {
        let unlocked = try make()
        let key = try unlocked.databaseKey()
        try unlocked.backUp(to: directory.file("backup"))
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: keyring.path)))
        for place in 26..<34 { bytes[place] = 0xff }
        let end = bytes.count - 96
        bytes.replaceSubrange(end..<(end + 32), with: try Cryptography.sha256(bytes[..<end]))
        _ = try directory.write(bytes, to: "a.keyring")
        expect(throws: KeyringError.altered) { _ = try unlock(.passphrase("first")) }
        try Keyring(path: directory.file("backup")).unlock(.passphrase("first"), upgrades: false).restore(to: keyring)
        #expect(try unlock(.passphrase("first")).databaseKey() == key)
        #expect(try keyring.content().generation < 10)
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

    @Test func onlyUnusedKeyringIsErased() throws {
        let unlocked = try make()
        try unlocked.eraseUnused { true }
        #expect(directory.names == ["a.keyring"])
        try unlocked.withLock { try $0.note(salt: Array(repeating: 1, count: 16)) }
        try unlocked.eraseUnused { false }
        #expect(directory.names == ["a.keyring"])
        let other = Keyring(path: directory.file("b.keyring"))
        try other.create(with: .passphrase("x"), derivation: Self.fast).eraseUnused { false }
        #expect(directory.names == ["a.keyring"])
        let claimed = try other.create(with: .passphrase("x"), derivation: Self.fast)
        try claimed.withLock { try $0.claim(for: "/a.db") }
        try claimed.eraseUnused(claimedFor: "/b.db") { false }
        #expect(directory.names == ["a.keyring", "b.keyring"])
        try claimed.eraseUnused(claimedFor: "/a.db") { false }
        #expect(directory.names == ["a.keyring"])
    }

    @Test func killedCreationLeavesWritableKeyring() throws {
        let unlocked = try make()
        #expect(link(keyring.path, keyring.path + ".new-0123456789abcdef") == 0)
        try unlocked.add(.keyFile(.random(count: 32)))
        #expect(directory.names == ["a.keyring"])
    }

    @Test func hardLinkedKeyringIsNotWritten() throws {
        let unlocked = try make()
        #expect(link(keyring.path, directory.file("second")) == 0)
        expect(throws: KeyringError.severalNames) { try unlocked.add(.keyFile(.random(count: 32))) }
    }

    @Test func recoveryCodeNeedsConfirmation() throws {
        let code = try KeyringSecret.recoveryCode(.random())
        expect(throws: KeyringError.notTypedBack) { try keyring.create(with: code) }
        let unlocked = try make()
        expect(throws: KeyringError.notTypedBack) { try unlocked.change(slot: 1, to: code) }
        expect(throws: KeyringError.notTypedBack) { try keyring.change(.passphrase("first"), to: code) }
    }

    @Test func rotationDropsNoRetiredKey() throws {
        let unlocked = try make()
        var keys: [DatabaseKey] = []
        let salt = Array<UInt8>(repeating: 7, count: 16)
        try unlocked.withLock { try $0.note(salt: salt) }
        for _ in 0..<255 {
            keys.insert(try unlocked.databaseKey(), at: 0)
            try unlocked.withLock { locked in
                _ = try locked.beginRotation()
                try locked.finishRotation(salt: salt)
            }
        }
        let last = try unlocked.databaseKey()
        #expect(throws: KeyringError(.full, path: keyring.path)) {
            try unlocked.withLock { _ = try $0.beginRotation() }
        }
        #expect(try unlocked.databaseKey() == last)
        #expect(try unlocked.retiredKeys().map(\.key).elementsEqual(keys, by: ==))
        try unlocked.withLock { try $0.adopt(keys[254], salt: salt) }
        #expect(try unlocked.databaseKey() == keys[254])
        #expect(try unlocked.retiredKeys().first.map { try $0.key == last } == true)
        try unlocked.forgetOlderKeys()
        #expect(try unlocked.content().olderKeyCount == 0)
        #expect(throws: KeyringError(.otherDatabase, path: keyring.path)) {
            try unlocked.withLock { try $0.adopt(keys[18], salt: salt) }
        }
        try unlocked.withLock { _ = try $0.beginRotation() }
    }

    @Test func unusedRetiredKeyIsDroppedFirst() throws {
        let unlocked = try make()
        let first = try unlocked.databaseKey()
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.finishRotation(salt: Array(repeating: 1, count: 16))
            try locked.note(salt: Array(repeating: 1, count: 16))
        }
        let second = try unlocked.databaseKey()
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.finishRotation(salt: Array(repeating: 1, count: 16))
            for _ in 0..<300 {
                _ = try locked.beginRotation()
                try locked.cancelRotation()
            }
        }
        let keys = try unlocked.retiredKeys().map(\.key)
        #expect(try keys.count == 255 && keys.contains { try $0 == second })
        // The first had no salt noted: nothing says that a file was under it.
        #expect(try !keys.contains { try $0 == first })
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.cancelRotation(wasUsed: false)
        }
        #expect(try unlocked.retiredKeys().map(\.key).elementsEqual(keys, by: ==))
    }

    @Test func eraseOverwritesKeyringOnly() throws {
        _ = try make()
        let second = directory.file("hard link")
        #expect(link(keyring.path, second) == 0)
        try keyring.erase()
        #expect(directory.names == ["hard link"])
        expect(throws: KeyringError.damaged, where: { $0.offset == nil }) { _ = try Keyring(path: second).content() }
        let other = try directory.write("a letter".utf8, to: "letter")
        expect(throws: KeyringError.notAKeyring) { try Keyring(path: other).erase() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("a letter".utf8))
    }

    // MARK: Rotation

    @Test func rotationHoldsBothKeysUntilItEnds() throws {
        let unlocked = try make()
        let old = try unlocked.databaseKey()
        let salt = Array<UInt8>(repeating: 7, count: 16)
        try unlocked.withLock { locked in
            try locked.note(salt: salt)
            let next = try locked.beginRotation()
            expect(throws: KeyringError.rotationPending) { _ = try unlocked.databaseKey() }
            let keys = try unlocked.databaseKeys()
            #expect(try keys.current == old && #require(keys.next) == next && !(next == old))
            expect(throws: KeyringError.rotationPending) { try locked.beginRotation() }
            try locked.finishRotation(salt: Array(repeating: 8, count: 16))
            #expect(try unlocked.databaseKey() == next)
        }
        let content = try unlocked.content()
        #expect(content.retired.map(\.key.salt) == [salt])
        #expect(try unlocked.retiredKeys().map(\.key).elementsEqual([old], by: ==))
        #expect(try unlock(.passphrase("first")).databaseKey() == unlocked.databaseKey())
    }

    @Test func cancelledRotationLeavesOldKey() throws {
        let unlocked = try make()
        let old = try unlocked.databaseKey()
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.cancelRotation()
        }
        #expect(try unlocked.databaseKey() == old)
        #expect(throws: KeyringError(.noRotationPending, path: keyring.path)) {
            try unlocked.withLock { try $0.finishRotation(salt: []) }
        }
    }

    // MARK: Hygiene

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
