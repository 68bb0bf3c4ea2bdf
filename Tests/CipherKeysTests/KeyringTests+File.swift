import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// How the file is written, locked, found and erased.
extension KeyringTests {
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

    @Test func hardLinkedKeyringIsNotWritten() throws {
        let unlocked = try make()
        #expect(link(keyring.path, directory.file("second")) == 0)
        expect(throws: KeyringError.severalNames) { try unlocked.add(.keyFile(.random(count: 32))) }
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
}
