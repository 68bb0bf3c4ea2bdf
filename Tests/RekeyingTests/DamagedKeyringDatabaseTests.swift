import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// A damaged database under a keyring is verified, copied and recovered as one under a passphrase is.
@Suite struct DamagedKeyringDatabaseTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let keyring: UnlockedKeyring
    private let pageSize: Int
    private var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        keyring = try Keyring(besideDatabase: path).create(with: .keyFile(.random(count: 32)))
        let database = Database(path: path)
        try database.open(key: keyring)
        try database.executeStatements(SampleFile.content)
        pageSize = try #require(database.cipherFormat).pageSize
        database.close()
    }

    private func expectDamage(_ pages: [Int]) throws {
        let key = try file.key(in: keyring)
        #expect(try key == keyring.databaseKey())
        let found = try file.verify(key: key)
        #expect(!found.isSound && found.damagedPages == pages, "\(found)")
        let database = Database(path: path)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == pages }) { try database.open(key: keyring) }
        expect(throws: KeyError.damaged, where: { $0.damagedPages == pages }) { try database.open(key: key) }
        let recovery = try file.recover(key: key, to: directory.file("saved.db"))
        #expect(recovery.damagedPages == found.damagedPages)
        #expect(try DatabaseFile(path: directory.file("saved.db")).verify(key: key).isSound)
    }

    @Test func keyIsFoundDespiteDamagedFirstPage() throws {
        try flipByte(of: path, at: 100)
        try expectDamage([1])
    }

    @Test func keyOfTruncatedFileIsFound() throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try FileState(path).bytes.count
        try handle.truncate(atOffset: UInt64(size - 2 * pageSize))
        try handle.close()
        try expectDamage([size / pageSize - 1, size / pageSize])
    }

    @Test func partialLastPageIsDamaged() throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try FileState(path).bytes.count
        try handle.truncate(atOffset: UInt64(size - 100))
        try handle.close()
        #expect(try file.verify(key: file.key(in: keyring)).damagedPages == [size / pageSize])
    }
}
