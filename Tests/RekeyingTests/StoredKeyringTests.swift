import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

/// Keyrings in repositories that somebody else put there, or that are not there.
@Suite struct StoredKeyringTests {
    let fixture: RepositoryFixture
    let keyring: UnlockedKeyring

    init() throws {
        fixture = try RepositoryFixture()
        keyring = try Self.keyring("mine", "Ada", fixture)
        let queue = try DatabaseQueue(path: fixture.path, keyring: keyring)
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

    private func backUp(to repository: BackupRepository? = nil) throws {
        _ = try fixture.file.backUp(
            to: repository ?? fixture.repository,
            expecting: .none,
            key: keyring.databaseKey(),
            keyring: keyring,
            progress: { _ in }
        )
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
        try fixture.repository.storedKeyrings(fixture.repository.marker())
    }

    private func plant(_ file: [UInt8], number: UInt64) throws -> StoredKeyring {
        let own = try #require(stored().first)
        let identifier = try fixture.repository.identifier()
        let planted = try StoredKeyring(file, own.identifiers, number: number, repository: identifier)
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
        try backUp()
        #expect(try check().withKeyring == [1] && stored().count == 1)
    }

    @Test func highestNumberIsNamed() throws {
        let planted = try plant(Self.keyring("other", "Bob", fixture).copy().file, number: Manifest.highestNumber)
        #expect(throws: BackupError(.damagedObject, path: "keyrings/\(planted.name)")) { try backUp() }
    }

    @Test func whatIsNoKeyringIsNotRestored() throws {
        _ = try plant(Array("no keyring".utf8), number: 7)
        let place = Keyring(path: fixture.directory.file("restored"))
        expect(throws: KeyringError.notAKeyring) { try fixture.repository.restoreKeyring(to: place) }
        #expect(!fixture.directory.names.contains("restored"))
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
        let queue = try DatabaseQueue(path: fixture.path, keyring: keyring)
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
