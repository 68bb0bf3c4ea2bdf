import CipherDB
import Foundation
import TestSupport
import Testing

/// How the command reports damage, and what it says to files of the wrong kind.
@Suite(.atTheEnds)
struct DamageReportTests {
    let directory: TemporaryDirectory
    let path: String
    let key: String
    private let pageSize: Int

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try directory.write(DatabaseKey.sampleBytes("old secret"), to: "key")
        pageSize = try #require(Engine.current.formats.first?.pageSize)
        let queue = try DatabaseQueue(path: path, key: .sample("old secret"))
        try queue.inDatabase {
            try $0.executeStatements(SampleFile.content)
            try $0.executeStatements("CREATE TABLE large (a); INSERT INTO large VALUES (randomblob(400000))")
        }
        try queue.close()
    }

    private func rekey(_ arguments: String...) throws -> Program.Outcome {
        try Program.run(Program.built("rekey"), arguments)
    }

    @Test func pagesAreReportedAsRanges() throws {
        for page in [5, 6, 7, 9] { try flipByte(of: path, at: page * pageSize - 700) }
        let verified = try rekey("verify", path, "--key-file", key)
        #expect(verified.status == 65 && verified.output.contains("damaged: pages 5 to 7, 9\n"), "\(verified.output)")
        let recovered = try rekey("recover", path, directory.file("saved.db"), "--key-file", key)
        #expect(recovered.output.contains(" pages 5 to 7, 9\n"), "\(recovered.output)")
    }

    @Test func missingPagesAreReportedApart() throws {
        let pages = try FileState(path).bytes.count / pageSize
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: UInt64(pages / 2 * pageSize + 100))
        try handle.close()
        try flipByte(of: path, at: 5 * pageSize - 700)
        let missing = "pages \(pages / 2 + 1) to \(pages); the file has \(pages / 2) whole pages\n"
        let picture = directory.file("map.svg")
        let verified = try rekey("verify", path, "--map", "--map-svg", picture, "--key-file", key)
        #expect(try FileManager.default.attributesOfItem(atPath: picture)[.posixPermissions] as? Int == 0o600)
        #expect(verified.status == 65 && verified.output.utf8.count < 5000)
        #expect(verified.output.contains("damaged: page 5\n") && verified.output.contains("missing: \(missing)"))
        // The map counts the same.
        #expect(verified.output.contains("X damaged: 1\n"), "\(verified.output)")
        #expect(verified.output.contains("missing: \(pages - pages / 2), not drawn"))
        #expect(try String(contentsOfFile: picture, encoding: .utf8).contains("missing: \(pages - pages / 2)"))
        let recovered = try rekey("recover", path, directory.file("saved.db"), "--key-file", key)
        #expect(recovered.output.contains(missing), "\(recovered.output)")
    }

    @Test func wrongKindOfFileIsExplained() throws {
        let encrypted = try rekey("encrypt", path, "--key-file", key)
        #expect(encrypted.status == 64 && encrypted.errors.contains("`rekey change`"), "\(encrypted.errors)")
        let plain = directory.file("plain.db")
        let database = Database(path: plain, configuration: Configuration { $0.allowsPlaintext = true })
        try database.open()
        try database.executeStatements("CREATE TABLE t (a)")
        database.close()
        let decrypted = try rekey("decrypt", plain, "--yes-write-plaintext", "--key-file", key)
        #expect(decrypted.status == 65 && decrypted.errors.contains("already plaintext"), "\(decrypted.errors)")
        #expect(!decrypted.errors.contains("allowsPlaintext"))
    }
}
