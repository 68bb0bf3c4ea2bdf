import CipherDB
import CipherSystem
import Foundation
import TestSupport
import Testing

/// Names up to the longest that file systems take, which is 255 bytes.
@Suite(.once) struct LongNameTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["old", "new"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
        try SampleFile.make(at: directory.file("short.db"), under: .sample("old"))
    }

    private func rekey(_ line: String) throws -> Program.Outcome {
        try Program.rekey(line, in: directory)
    }

    @Test(arguments: [224, 225, 233, 234, 247, 248, 255]) func longNameWorks(_ length: Int) throws {
        let name = String(repeating: "n", count: length)
        for arguments in [
            "copy short.db \(name) --key-file old", "verify \(name) --key-file old", "inspect \(name) --key-file old",
            "change \(name) --key-file old --new-key-file new", "decrypt \(name) --key-file new --yes-write-plaintext",
            "encrypt \(name) --key-file old", "migrate \(name) --key-file old --page-size 8192", "cleanup \(name)",
        ] {
            let outcome = try rekey(arguments)
            #expect(outcome.status == 0, "\(arguments.prefix(20)): \(outcome.errors)")
        }
        let inPlace = try rekey("change --in-place \(name) --key-file old --new-key-file new")
        #expect(inPlace.status == (length > 247 ? 64 : 0), "\(inPlace.errors)")
        if length > 247 { #expect(inPlace.errors.contains("no room for that of the journal")) }
        #expect(directory.names == ["new", name, "old", "short.db"].sorted())
        #expect(try rekey("recover short.db \(name.dropLast())x --key-file old").status == 0)
    }

    @Test func temporaryNameIsThatOfItsOwner() throws {
        let common = String(repeating: "é", count: 110)
        let (one, other) = (common + String(repeating: "1", count: 20), common + String(repeating: "2", count: 20))
        let name = FileCalls.name(of: TemporaryName.database.path(beside: "/tmp/\(one)"))
        #expect(name.utf8.count <= 247 && TemporaryName.database.matches(name, of: one))
        #expect(TemporaryName.database.matches(name + "-wal", of: one, suffixes: ["-wal"]))
        #expect(!TemporaryName.database.matches(name, of: other) && !TemporaryName.database.matches(name, of: common))
        #expect(!TemporaryName.keyring.matches(name, of: one))
        // A short name stands whole.
        #expect(TemporaryName.database.path(beside: "/tmp/a.db").hasPrefix("/tmp/a.db.rekey-"))
    }
}
