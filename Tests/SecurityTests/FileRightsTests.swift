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

    /// The kernel lets nobody inspect the memory of a process whose program its user cannot read, from the start on.
    @Test func installedCommandIsNotReadable() throws {
        let directory = try TemporaryDirectory()
        let stage = directory.file("stage")
        try FileManager.default.createDirectory(atPath: stage + "/man", withIntermediateDirectories: true)
        for name in ["rekey", "rekey.bash", "rekey.zsh", "rekey.fish", "man/rekey.1"] {
            _ = try directory.write("#!/bin/sh\n".utf8, to: "stage/" + name)
        }
        let outcome = try Program.run(
            Program.packageDirectory + "/Scripts/install.sh",
            environment: ["STAGE": stage, "DESTDIR": directory.file("root"), "PREFIX": "/usr"]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("root/usr/bin/rekey"))
        #expect(attributes[.posixPermissions] as? Int == 0o711)
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
