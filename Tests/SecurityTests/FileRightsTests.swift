import CipherDB
import Foundation
import TestSupport
import Testing

/// Who can read what is made.
@Suite struct FileRightsTests {
    @Test(arguments: [JournalMode.delete, .persist, .wal])
    func newFilesAreOwnerOnly(mode: JournalMode) throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(
            path: directory.file("test.db"),
            key: .sample("secret"),
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(100000))")
            #expect(directory.names.count > 1)
            for name in directory.names {
                let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(name))
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test func existingFileKeepsPermissions() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("test.db")
        let queue = try DatabaseQueue(path: path, key: .sample("secret"))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try queue.rekey(.sample("new"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }
}
