import CipherDB
import Foundation
import TestSupport
import Testing

/// A plain SQLite that gets into the process before SQLCipher: a key would be taken, and the file be plaintext.
@Suite struct ForeignEngineTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The machine's plain SQLite.
    static let plainSQLite: String? = {
        let cache = try? Program.run("/sbin/ldconfig", ["-p"])
        let line = cache?.output.split(separator: "\n").first { $0.contains("libsqlite3.so.0 ") }
        return line?.split(separator: " ").last.map(String.init)
    }()

    @Test(.enabled(if: plainSQLite != nil, "this machine has no plain libsqlite3"))
    func aPreloadedPlainSQLiteIsRefusedAndNoFileAppears() throws {
        let path = folder.file("test.db")
        let outcome = try Program.run(
            Program.built("PackageSearch"),
            [Program.packageFolder + "/Examples/PackageSearch/sample.status", path],
            environment: ["LD_PRELOAD": try #require(Self.plainSQLite)]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("cannot encrypt"), "\(outcome.errors)")
        #expect(folder.names.isEmpty)
    }

    @Test(
        .enabled(if: plainSQLite != nil, "this machine has no plain libsqlite3"),
        arguments: [JournalMode.delete, .wal]
    )
    func aPreloadedPlainSQLiteDoesNotTouchAnEncryptedFile(mode: JournalMode) throws {
        let path = folder.file("test.db")
        let secret = try folder.write("secret".utf8, to: "passphrase")
        let configuration = Configuration { $0.journalMode = mode }
        let queue = try DatabaseQueue(path: path, key: .passphrase("secret"), configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.script) }
        try queue.close()
        let before = try FileState(path)
        for command in ["verify", "change", "inspect"] {
            let new = command == "change" ? ["--new-passphrase-file", secret] : []
            let outcome = try Program.run(
                Program.built("rekey"),
                [command, path, "--passphrase-file", secret] + new,
                environment: ["LD_PRELOAD": try #require(Self.plainSQLite)]
            )
            #expect(outcome.status == 69, "\(command): \(outcome.errors)")
        }
        #expect(try FileState(path) == before)
    }

    @Test func theDemoRunsWithoutIt() throws {
        // Or the refusal above would prove nothing.
        let outcome = try Program.run(
            Program.built("PackageSearch"),
            [Program.packageFolder + "/Examples/PackageSearch/sample.status", folder.file("test.db")]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("0 damaged, 0 problems"))
    }
}
