import CipherDB
import Foundation
import TestSupport
import Testing

/// Which file an error names, and how the command ends.
@Suite(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"), .atTheEnds) struct ErrorPlaceTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("large.db")
        for name in ["old", "new"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
        let queue = try DatabaseQueue(path: path, key: .sample("old"))
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (a)")
            for _ in 0..<200 { try database.executeUpdate("INSERT INTO t VALUES (randomblob(3000))") }
        }
        try queue.close()
    }

    private func rekey(_ arguments: String...) throws -> Program.Outcome {
        let keys = ["--key-file", directory.file("old")]
        return try Program.run(Program.built("rekey"), arguments + keys)
    }

    @Test(arguments: ["copy", "recover"]) func fullDiskOfDestinationIsNamed(_ command: String) throws {
        let disk = try SmallDisk(bytes: 300 << 10)
        let destination = disk.file("new.db")
        let outcome = try rekey(command, path, destination)
        #expect(
            outcome.status == 74 && outcome.errors.contains("\(destination): No space left on device"),
            "\(outcome.errors)"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
    }

    /// With room for nothing, for the keyring, for what is written beside it, and so on.
    @Test func fullDiskLeavesNoNewKeyring() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let copy = disk.file("a.db")
        try SampleFile.make(at: copy, under: .sample("old"))
        let before = try FileState(copy)
        var failures = 0
        for blocks in 0..<20 {
            try FileManager.default.copyItem(atPath: "/dev/null", toPath: disk.file("filling"))
            let fill = "head -c \(blocks * 4096) /dev/zero > reserve; cat /dev/zero > filling 2>/dev/null; rm reserve"
            _ = try Program.run("/bin/sh", ["-c", "cd '\(disk.path)' && { \(fill); }"])
            let outcome = try rekey("keyring", "init", copy, "--new-key-file", directory.file("new"))
            try FileManager.default.removeItem(atPath: disk.file("filling"))
            let names = try FileManager.default.contentsOfDirectory(atPath: disk.path).sorted()
            if outcome.status == 0 { break }
            failures += 1
            #expect(names == ["a.db"], "\(blocks) blocks: \(outcome.errors)")
            #expect(try FileState(copy) == before)
        }
        #expect(failures > 3)
    }

    @Test func keyringIsErasedOnFullDisk() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let keyring = Keyring(path: disk.file("a.keyring"))
        try keyring.create(with: .sample("new"))
        _ = try Program.run("/bin/sh", ["-c", "cat /dev/zero > '\(disk.file("filling"))' 2>/dev/null"])
        try keyring.erase()
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["filling"])
    }

    @Test func fullDiskInPlaceIsInputOutputError() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let copy = disk.file("large.db")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let outcome = try rekey("change", "--in-place", copy, "--new-key-file", directory.file("new"))
        #expect(
            outcome.status == 74 && outcome.errors.firstMatch(of: /disk (may be|is) full/) != nil,
            "\(outcome.errors)"
        )
        #expect(try rekey("verify", copy).status == 0)
    }
}
