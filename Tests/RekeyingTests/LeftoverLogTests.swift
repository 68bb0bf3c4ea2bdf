import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// A write-ahead log that a program left when it ended without closing its database.
@Suite struct LeftoverLogTests {
    private let directory: TemporaryDirectory
    private let path: String
    private static let key = SampleKey.named("secret")

    /// The files as a program left them that was killed.
    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        let live = directory.file("live.db")
        let database = Database(path: live, configuration: Configuration { $0.journalMode = .wal })
        try database.open(key: Self.key.key)
        try database.executeStatements(SampleFile.content)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix)
        }
        database.close()
        try FileManager.default.removeItem(atPath: live)
    }

    @Test(arguments: [false, true]) func readingLeavesWAL(byLink: Bool) throws {
        let before = try [path, path + "-wal"].map { try FileState($0) }
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let file = DatabaseFile(path: byLink ? link : path)
        #expect(try file.inspect(key: Self.key.key).format != nil)
        #expect(try file.verify(key: Self.key.key).isSound)
        try file.copy(key: Self.key.key, to: directory.file("copy.db"))
        _ = try file.recover(key: Self.key.key, to: directory.file("saved.db"))
        try file.backUp(to: BackupRepository(directory.file("backups")), key: Self.key.key)
        #expect(try [path, path + "-wal"].map { try FileState($0) } == before)
        for name in ["copy.db", "saved.db"] {
            let copy = Database(path: directory.file(name))
            try copy.open(key: Self.key.key)
            #expect(try copy.string(forQuery: SampleFile.question) == SampleFile.answer)
        }
    }
}
