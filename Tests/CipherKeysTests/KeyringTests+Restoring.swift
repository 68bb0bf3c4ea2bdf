import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Copies of the file, and what they replace.
extension KeyringTests {
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
}
