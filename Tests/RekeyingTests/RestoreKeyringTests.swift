import CipherDB
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherKeys

/// A backup of a keyring in the place of one that does not open the database.
@Suite final class RestoreKeyringTests: KeyringFixture {
    private var file: DatabaseFile { DatabaseFile(path: path) }
    private var kept: String { keyring.path + ".replaced-1" }

    private func backUp(_ name: String) throws -> UnlockedKeyring {
        try unlocked().backUp(to: directory.file(name))
        return try Keyring(path: directory.file(name)).unlock(secret)
    }

    private func answer() throws -> String? {
        let database = try open()
        defer { database.close() }
        return try database.string(forQuery: SampleFile.question)
    }

    @Test func keyringOfOtherDatabaseIsReplacedAndKept() throws {
        try make()
        let backup = try backUp("backup")
        for number in 1...2 {
            try FileManager.default.removeItem(atPath: keyring.path)
            let other = try keyring.create(with: secret, for: path).databaseKey()
            expect(throws: KeyringError.otherDatabase) { _ = try answer() }
            let kept = keyring.path + ".replaced-\(number)"
            #expect(try file.restoreKeyring(keyring, from: backup) == kept)
            #expect(try Keyring(path: kept).unlock(secret).databaseKey() == other)
            #expect(try answer() == SampleFile.answer)
        }
        #expect(try file.restoreKeyring(keyring, from: backup) == nil)
        #expect(try answer() == SampleFile.answer)
    }

    @Test func missingKeyringIsRestored() throws {
        try make()
        let backup = try backUp("backup")
        try FileManager.default.removeItem(atPath: keyring.path)
        expect(throws: KeyringError.lost, where: { $0.database == path }) { _ = try answer() }
        #expect(try file.restoreKeyring(keyring, from: backup) == nil)
        #expect(try answer() == SampleFile.answer)
    }

    /// The database was given another key since that copy was made.
    @Test func oldCopyOfKeyringIsReplacedByNewerBackup() throws {
        try make()
        try FileManager.default.copyItem(atPath: keyring.path, toPath: directory.file("old"))
        let database = try open()
        try database.rotateKey(of: unlocked())
        database.close()
        let backup = try backUp("new")
        try FileManager.default.removeItem(atPath: keyring.path)
        try FileManager.default.moveItem(atPath: directory.file("old"), toPath: keyring.path)
        let old = try FileState(keyring.path).bytes
        expect(throws: KeyringError.otherDatabase) { _ = try answer() }
        #expect(try file.restoreKeyring(keyring, from: backup) == kept)
        #expect(try FileState(kept).bytes == old)
        #expect(try answer() == SampleFile.answer)
    }

    @Test func newerKeyringOfSameKeysIsKept() throws {
        try make()
        let backup = try backUp("backup")
        let newer = try SecretBytes(copying: DatabaseKey.sampleBytes("Bob"))
        try unlocked().add(.keyFile(newer))
        let before = try FileState(keyring.path).bytes
        #expect(try file.restoreKeyring(keyring, from: backup) == kept)
        #expect(try FileState(kept).bytes == before)
        expect(throws: KeyringError.wrongSecret) { _ = try keyring.unlock(.keyFile(newer)) }
        // What differs in its sequence number alone is not kept.
        #expect(try file.restoreKeyring(keyring, from: backup) == nil)
        #expect(try answer() == SampleFile.answer)
    }

    @Test func keyringThatOpensDatabaseStays() throws {
        try make()
        let backup = try backUp("backup")
        try FileManager.default.copyItem(atPath: path, toPath: directory.file("old.db"))
        let database = try open()
        try database.rotateKey(of: unlocked())
        database.close()
        let before = try FileState(keyring.path)
        // Of the database the backup lacks the key, of the copy the present keyring has it too.
        expect(throws: KeyringError.otherDatabase) { try file.restoreKeyring(keyring, from: backup) }
        let copy = DatabaseFile(path: directory.file("old.db"))
        expect(throws: KeyringError.otherKeys) { try copy.restoreKeyring(keyring, from: backup) }
        #expect(try FileState(keyring.path) == before && !FileManager.default.fileExists(atPath: kept))
    }

    @Test func backupThatOpensNothingReplacesNothing() throws {
        try make()
        let other = Keyring(path: directory.file("other"))
        let before = try FileState(keyring.path)
        let unlocked = try other.create(with: secret)
        expect(throws: KeyringError.otherDatabase) { try file.restoreKeyring(keyring, from: unlocked) }
        #expect(try FileState(keyring.path) == before && directory.names == ["other", "test.db", "test.db.keyring"])
    }

    @Test(arguments: [FaultInjection.Call.write, .rename, .sync])
    func replacementThatFailsKeepsWhatWasThere(_ call: FaultInjection.Call) throws {
        try make()
        let backup = try backUp("backup")
        try FileManager.default.removeItem(atPath: keyring.path)
        try keyring.create(with: secret, for: path)
        let before = try FileState(keyring.path).bytes
        let names = directory.names
        let order = FaultInjection.Order(prefix: keyring.path + ".new-", call: call, after: 0, code: ENOSPC)
        let (outcome, met) = FaultInjection.with(order) { try file.restoreKeyring(keyring, from: backup) }
        #expect(throws: KeyringError.self) { try outcome.get() }
        #expect(try met && FileState(keyring.path).bytes == before && directory.names == names)
    }

    /// Also where the new one is in force, and only that is not certain after a cut of the power.
    @Test func unsyncedReplacementKeepsWhatWasThere() throws {
        try make()
        let backup = try backUp("backup")
        try FileManager.default.removeItem(atPath: keyring.path)
        try keyring.create(with: secret, for: path)
        let before = try FileState(keyring.path).bytes
        var number = 0
        while true {
            let order = FaultInjection.Order(prefix: keyring.path, call: .sync, after: number, code: EIO)
            let (outcome, met) = FaultInjection.with(order) { try file.restoreKeyring(keyring, from: backup) }
            guard met else { break }
            #expect(throws: KeyringError.self, "\(number)") { try outcome.get() }
            let left = [keyring.path, kept].filter { (try? FileState($0).bytes) == before }
            #expect(!left.isEmpty, "sync \(number)")
            try? FileManager.default.removeItem(atPath: kept)
            try Data(before).write(to: URL(fileURLWithPath: keyring.path))
            number += 1
        }
        // Of the file that is kept and of its name, of the new one and of its.
        #expect(number >= 4)
    }
}
