import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// What a keyring notes of repositories of backups.
@Suite struct BackupNotesTests {
    let directory: TemporaryDirectory
    let keyring: Keyring
    let unlocked: UnlockedKeyring
    private let first = [UInt8](repeating: 1, count: 16)
    private let second = [UInt8](repeating: 2, count: 16)

    init() throws {
        directory = try TemporaryDirectory()
        keyring = Keyring(path: directory.file("keyring"))
        unlocked = try keyring.create(with: .sample("a"))
    }

    @Test func noteIsReadBack() throws {
        #expect(try unlocked.notedGeneration(of: first) == nil)
        try unlocked.note(7, of: first)
        try unlocked.note(300, of: second)
        try unlocked.note(6, of: first)
        let again = try keyring.unlock(.sample("a"))
        #expect(try again.notedGeneration(of: first) == 7 && again.notedGeneration(of: second) == 300)
        let slots = try again.content().slots
        #expect(slots.count == 2 && slots[1].isNote && slots[1].kind == nil && !slots[0].isNote)
        #expect("\(slots[1])".contains("notes of backups"))
    }

    @Test func noteRaisesNoSequenceNumber() throws {
        let before = try unlocked.content()
        try unlocked.note(7, of: first)
        #expect(try unlocked.content().generation == before.generation)
        // A lower number is not even written.
        let state = try FileState(keyring.path)
        try unlocked.note(7, of: first)
        #expect(try FileState(keyring.path) == state)
    }

    @Test func noteKeepsRotationOfOtherProcess() throws {
        let other = try keyring.unlock(.sample("a"))
        let next = try other.withLock { try $0.beginRotation() }
        try unlocked.note(7, of: first)
        #expect(try #require(other.databaseKeys().next) == next)
        try other.withLock { try $0.finishRotation(salt: first) }
        try unlocked.note(8, of: first)
        #expect(try other.databaseKey() == next && other.notedGeneration(of: first) == 8)
    }

    @Test func onlySecretBesideNotesIsKept() throws {
        try unlocked.note(7, of: first)
        expect(throws: KeyringError.onlySlot) { try unlocked.remove(slot: 1, force: true) }
        expect(throws: KeyringError.noSuchSlot, where: { $0.slots == [2] }) {
            try unlocked.change(slot: 2, to: .sample("b"))
        }
        try unlocked.remove(slot: 2)
        #expect(try unlocked.notedGeneration(of: first) == nil)
    }

    @Test func restoredKeyringKeepsLaterNote() throws {
        try unlocked.note(7, of: first)
        let backup = Keyring(path: directory.file("backup"))
        try unlocked.backUp(to: backup.path)
        try unlocked.note(9, of: first)
        try unlocked.add(.sample("b"))
        try backup.unlock(.sample("a")).restore(to: keyring)
        #expect(try unlocked.notedGeneration(of: first) == 9)
        #expect(try unlocked.content().slots.count == 2)
        // Nor does a backup lose one.
        try unlocked.remove(slot: 2)
        try unlocked.note(3, of: first)
        try backup.unlock(.sample("a")).restore(to: keyring)
        #expect(try unlocked.notedGeneration(of: first) == 7)
    }

    @Test func mostNotesAreBounded() throws {
        let repositories = (UInt8(0)..<33).map { [UInt8](repeating: $0, count: 16) }
        for repository in repositories { try unlocked.note(1, of: repository) }
        #expect(try unlocked.notedGeneration(of: repositories[0]) == nil)
        #expect(try repositories.dropFirst().allSatisfy { try unlocked.notedGeneration(of: $0) == 1 })
    }

    @Test func fullKeyringNotesNothing() throws {
        for number in 1...31 { try unlocked.add(.sample("slot \(number)")) }
        expect(throws: KeyringError.full) { try unlocked.note(1, of: first) }
        #expect(try unlocked.content().slots.count == 32)
    }
}
