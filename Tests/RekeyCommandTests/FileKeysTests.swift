import CipherDB
import Foundation
import TestSupport
import Testing

/// One secret for several files.
@Suite struct FileKeysTests {
    let directory: TemporaryDirectory

    /// `other.db` under another key than the keyring's, and `ring.db` under the keyring's.
    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("other.db"), under: .sample("o"))
        try SampleFile.make(at: directory.file("ring.db"), under: Keyring(path: directory.file("ring")), .sample("s"))
    }

    @Test(arguments: [
        "status", "verify", "inspect", "migrate --page-size 8192", "decrypt --yes-write-plaintext",
        "change --new-key-file new",
    ])
    func keyringIsUnlockedOnceForAllFiles(_ command: String) throws {
        _ = try directory.write(DatabaseKey.sampleBytes("n"), to: "new")
        let outcome = try Program.rekey(
            "\(command) other.db ring.db --json --keyring ring --key-file -",
            in: directory,
            input: String(decoding: DatabaseKey.sampleBytes("s"), as: UTF8.self)
        )
        #expect(outcome.status == 77, "\(outcome.errors)")
        let objects = try outcome.output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["error"] == nil } == [false, true], "\(outcome.output)")
        if ["status", "verify"].contains(command) { #expect(objects.last?["ok"] as? Bool == true) }
    }

    @Test func eachFileGetsItsOwnKeyOfKeyring() throws {
        let ring = "ring.db --keyring ring --key-file s"
        _ = try directory.write(DatabaseKey.sampleBytes("s"), to: "s")
        try FileManager.default.copyItem(atPath: directory.file("ring.db"), toPath: directory.file("before.db"))
        let rotated = try Program.rekey("keyring rotate \(ring)", in: directory)
        #expect(rotated.status == 0, "\(rotated.errors)")
        for command in ["status", "verify", "inspect", "decrypt --yes-write-plaintext"] {
            let outcome = try Program.rekey("\(command) before.db \(ring)", in: directory)
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
    }
}
