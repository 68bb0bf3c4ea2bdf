import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// Names of files as the shell hands them over: bytes.
@Suite(.enabled(if: ByteNames.arePossible, "this file system takes only names in UTF-8"), .once)
struct ByteNameCommandTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try SampleFile.make(at: directory.file("good.db"), under: .sample("k"))
        _ = try directory.write(DatabaseKey.sampleBytes("k"), to: "k")
    }

    /// Runs the command in the directory; `@` stands for the byte 0xFF in a name.
    private func rekey(_ arguments: String) throws -> Program.Outcome {
        let line = arguments.replacing("@", with: "\"$n\"")
        return try Program.rekey(line, in: directory, before: "n=$(printf 'out\\377.db')")
    }

    @Test func nonUTF8FileNamesAreKept() throws {
        let name = String(pathBytes: [0x6F, 0x75, 0x74, 0xFF, 0x2E, 0x64, 0x62])
        for arguments in [
            "copy good.db @ --key-file k --new-key-file k", "verify @ --key-file k", "inspect @ --key-file k",
            "keyring init @ --key-file k --new-key-file k", "keyring rotate @ --key-file k",
            "verify --json --keyring @.keyring @ --key-file k",
        ] {
            let outcome = try rekey(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            if arguments.contains("--json") {
                let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
                #expect(object?["file"] as? String == "out\u{FFFD}.db")
            }
        }
        let names = Set(try FileCalls.names(beside: directory.file("k")).map(\.pathBytes))
        #expect(names == Set([".", "..", "good.db", "k", name, name + ".keyring"].map(\.pathBytes)))
        let missing = try rekey("verify ./nothing@ --key-file k")
        #expect(missing.status == 66 && missing.errors.contains("nothingout\u{FFFD}.db"), "\(missing.errors)")
    }
}
