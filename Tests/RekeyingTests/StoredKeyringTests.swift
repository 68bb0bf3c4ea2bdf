import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

/// Keyrings in repositories that somebody else put there, or that are not there.
@Suite(.atTheEnds) struct StoredKeyringTests {
    let fixture: RepositoryFixture
    let keyring: UnlockedKeyring

    init() throws {
        fixture = try RepositoryFixture()
        keyring = try Self.keyring("mine", "Ada", fixture)
        let queue = try DatabaseQueue(path: fixture.path, key: keyring)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        try backUp()
    }

    private static func keyring(_ name: String, _ secret: String, _ fixture: RepositoryFixture) throws
        -> UnlockedKeyring
    {
        try Keyring(path: fixture.directory.file(name))
            .create(with: .keyFile(SecretBytes(copying: DatabaseKey.sampleBytes(secret))))
    }

    private var secret: KeyringSecret {
        get throws { try .keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("Ada"))) }
    }

    /// - Parameter isNoted: Whether the keyring notes the generation.
    @discardableResult
    private func backUp(to repository: BackupRepository? = nil, isNoted: Bool = false) throws -> BackupResult {
        let repository = repository ?? fixture.repository
        let done = try fixture.file.backUp(to: repository, keyring: keyring)
        if isNoted { try repository.note(done.generation, in: keyring) }
        return done
    }

    private func rotate() throws {
        let queue = try DatabaseQueue(path: fixture.path, key: keyring)
        try queue.rotateKey(of: keyring)
        try queue.close()
    }

    private func check() throws -> RepositoryCheck {
        try fixture.repository.check(
            provingBy: keyring.copy().keys,
            of: fixture.file,
            atLeast: nil,
            keyring: keyring,
            progress: { _, _ in }
        )
    }

    private func stored() throws -> [StoredKeyring] {
        try Array(fixture.repository.storedKeyrings(fixture.repository.identifier()))
    }

    /// - Parameter others: Identifiers besides those of the newest keyring.
    private func plant(_ file: [UInt8], number: UInt64, others: Set<[UInt8]> = []) throws -> StoredKeyring {
        let own = try #require(stored().first)
        let identifier = try fixture.repository.identifier()
        let planted = try StoredKeyring(file, own.identifiers.union(others), number: number, repository: identifier)
        try fixture.repository.storage.add(StoredKeyring.directory + "/" + planted.name, planted.file)
        return planted
    }

    @Test func keyringOfAnotherIsAProblemOfCheck() throws {
        #expect(try check().problems == [] && check().withKeyring == [1])
        let other = try Self.keyring("other", "Bob", fixture)
        let planted = try plant(other.copy().file, number: 7)
        #expect(try check().problems == ["keyrings/\(planted.name): not the keyring that was given"])
        // The next backup stores the right one, and removes what claims to have its keys.
        try backUp()
        #expect(try check().problems == [] && stored().count == 1)
    }

    @Test func replacedWrapperIsStoredAgain() throws {
        let own = try #require(stored().first)
        let identifier = try fixture.repository.identifier()
        let planted = try StoredKeyring(own.keyring, [], number: 7, repository: identifier)
        try fixture.repository.storage.remove(StoredKeyring.directory + "/" + own.name)
        try fixture.repository.storage.add(StoredKeyring.directory + "/" + planted.name, planted.file)
        #expect(try check().withKeyring == [])
        #expect(
            try check().problems
                == ["keyrings/\(planted.name): it has been altered: it names other keys than it has"]
        )
        try backUp()
        #expect(try check().withKeyring == [1] && check().problems == [] && stored().count == 1)
    }

    /// Of other keyrings in the repository, one has the highest number and a key that ours lacks: no backup removes it.
    @Test func keyringsOfOthersStopNoRestore() throws {
        let other = try Self.keyring("other", "Bob", fixture).copy().file
        let unknown = [UInt8](repeating: 7, count: BackupKey.identifierSize)
        for number in [5, Manifest.highestNumber] { _ = try plant(other, number: number, others: [unknown]) }
        for name in ["first", "second"] {
            let place = Keyring(path: fixture.directory.file(name))
            try fixture.repository.restoreKeyring(to: place, unlockedBy: secret)
            #expect(try place.unlock(secret).databaseKey() == keyring.databaseKey())
            try backUp()
            #expect(try check().sound == [1])
        }
        let wrong = try KeyringSecret.keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("Eve")))
        expect(throws: KeyringError.wrongSecret) {
            try fixture.repository.restoreKeyring(to: Keyring(path: fixture.directory.file("none")), unlockedBy: wrong)
        }
        #expect(!fixture.directory.names.contains("none"))
    }

    /// It opens with the same secret.
    @Test func keyringThatOnlyClaimsKeyIsPassedOver() throws {
        let old = try keyring.copy().file
        try rotate()
        try backUp()
        _ = try plant(old, number: 7)
        let place = Keyring(path: fixture.directory.file("restored"))
        try fixture.repository.restoreKeyring(to: place, unlockedBy: secret)
        #expect(try place.unlock(secret).databaseKey() == keyring.databaseKey())
    }

    /// What is no keyring: a link to itself, a directory, and files of too many bytes, of others, and without a keyring in them.
    @Test func objectsThatCannotBeReadStopNothing() throws {
        let directory = fixture.directory.file("repository/keyrings/")
        let files = FileManager.default
        let name = directory + "0000000009-0123456789abcde"
        try files.createSymbolicLink(atPath: name + "0", withDestinationPath: name + "0")
        try files.createDirectory(atPath: name + "1", withIntermediateDirectories: false)
        try Data(count: 1 << 20).write(to: URL(fileURLWithPath: name + "2"))
        try Data("a".utf8).write(to: URL(fileURLWithPath: directory + "1099511627776-0123456789abcdef"))
        _ = try plant(Array("no keyring".utf8), number: 10)
        #expect(try check().problems.count == 5 && check().withKeyring == [1])
        try rotate()
        try backUp()
        try fixture.repository.prune(keeping: RetentionPolicy(newest: 1))
        #expect(try check().problems.count == 5 && check().withKeyring == [2])
        #expect(try stored().map(\.number) == [11])
        for secret in [nil, try secret] {
            let place = Keyring(path: fixture.directory.file("restored"))
            try fixture.repository.restoreKeyring(to: place, unlockedBy: secret)
            #expect(try place.unlock(self.secret).databaseKey() == keyring.databaseKey())
            try place.erase()
        }
    }

    /// As where the directories of two repositories were mixed up.
    @Test func keyringOfOtherRepositoryIsDamage() throws {
        let own = try #require(stored().first)
        let other = try StoredKeyring(
            own.keyring,
            own.identifiers,
            number: 7,
            repository: [UInt8](repeating: 9, count: Manifest.repositorySize)
        )
        try fixture.repository.storage.add(StoredKeyring.directory + "/" + other.name, other.file)
        #expect(try stored().map(\.number) == [own.number])
        let found = try check()
        #expect(found.problems.count == 1 && found.problems[0].contains(other.name) && found.withKeyring == [1])
    }

    /// Not a thousand that somebody put there.
    @Test func oneKeyringIsReadAtATime() throws {
        let own = try #require(stored().first)
        for number in UInt64(100)..<150 { _ = try plant(own.keyring, number: number) }
        let storage = CountingStorage(fixture.directory.file("repository"))
        let repository = BackupRepository(storage: storage)
        func isNewestAlone() -> Bool {
            let opened = storage.opened.keys.filter { $0.hasPrefix("keyrings/") }
            return opened.count == 1 && opened.allSatisfy { $0.contains("0000000149-") }
        }
        try repository.restoreKeyring(to: Keyring(path: fixture.directory.file("restored")), unlockedBy: secret)
        #expect(isNewestAlone())
        try backUp(to: repository)
        #expect(isNewestAlone())
    }

    @Test func backupGoesOnAfterRotationAndForgottenKeys() throws {
        try backUp(isNoted: true)
        try rotate()
        try keyring.forgetOlderKeys()
        let done = try backUp(isNoted: true)
        #expect(done.generation.number == 2 && done.isNew && done.warnings == [])
        #expect(try fixture.repository.notedGeneration(in: keyring) == 2)
    }

    /// Who has a forgotten key has written a generation of the noted number into a copy of the repository from before.
    @Test func forgottenKeyHidesNoOldCopy() throws {
        let key = try keyring.databaseKey()
        let (copy, path) = (BackupRepository(fixture.directory.file("old")), fixture.directory.file("old.db"))
        try FileManager.default.copyItem(
            atPath: fixture.directory.file("repository"),
            toPath: fixture.directory.file("old")
        )
        try FileManager.default.copyItem(atPath: fixture.path, toPath: path)
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeUpdate("DELETE FROM people") }
        try queue.close()
        #expect(try DatabaseFile(path: path).backUp(to: copy, key: key).generation.number == 2)
        try rotate()
        // Times in keyrings are whole seconds.
        Platform.sleep(milliseconds: 1100)
        try backUp(isNoted: true)
        try keyring.forgetOlderKeys()
        #expect(throws: BackupError(.outdated, newest: 0, expected: 2)) { try backUp(to: copy) }
        #expect(try backUp().isNew == false)
    }

    @Test func keyringIsNotOverwritten() throws {
        expect(throws: KeyringError.exists) { try fixture.repository.restoreKeyring(to: keyring.keyring) }
    }

    @Test func generationWithoutItsKeyHasNoKeyring() throws {
        try fixture.repository.storage.remove(StoredKeyring.directory + "/" + #require(stored().first).name)
        let place = Keyring(path: fixture.directory.file("restored"))
        #expect(throws: BackupError(.noKeyring, path: fixture.directory.file("repository"), generation: 1)) {
            try fixture.repository.restoreKeyring(to: place)
        }
        #expect(try check().withKeyring == [] && check().problems == [])
    }

    @Test func keyringIsThereBeforeItsGeneration() throws {
        let queue = try DatabaseQueue(path: fixture.path, key: keyring)
        try queue.rotateKey(of: keyring)
        try queue.close()
        let storage = CountingStorage(fixture.directory.file("repository"))
        try backUp(to: BackupRepository(storage: storage))
        let kinds = storage.added.map { $0.prefix { $0 != "/" } }
        #expect(kinds == ["keyrings", "segments", "generations"])
    }

    @Test func changedSecretIsStoredWithoutChangeOfDatabase() throws {
        let follower = BackupFollower(fixture.file, fixture.repository, keyring: keyring) {
            try keyring.databaseKey()
        }
        _ = try follower.store()
        let before = try stored().map(\.name)
        try keyring.add(.keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("Bob"))))
        #expect(try follower.store() == nil)
        #expect(try stored().count == 1 && stored().map(\.name) != before)
    }
}
