import CipherDB
import Foundation
import TestSupport
import Testing

/// What the command asks a person for, and when.
@Suite struct PromptTests {
    let directory: TemporaryDirectory
    let path: String
    let oldKey: String
    let wrongKey: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        oldKey = try directory.write(DatabaseKey.sampleBytes("old"), to: "old.key")
        wrongKey = try directory.write(DatabaseKey.sampleBytes("wrong"), to: "wrong.key")
        let queue = try DatabaseQueue(path: path, key: .sample("old"))
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func atTerminal(_ answers: [String], _ arguments: [String]) throws -> (shown: String, status: Int32) {
        try Program.atTerminal(Program.built("rekey"), arguments, answers: answers)
    }

    @Test func oldKeyIsProvedBeforeNewPassphrasePrompt() throws {
        let before = try FileState(path)
        let keyring = directory.file("other.keyring")
        for arguments in [["change"], ["change", "--in-place"], ["change", "--new-keyring", keyring]] {
            let outcome = try atTerminal(["new", "new"], arguments + [path, "--key-file", wrongKey])
            #expect(outcome.status == 77 && outcome.shown.contains("wrong key"), "\(outcome.shown)")
            #expect(!outcome.shown.contains("New passphrase"), "\(arguments): \(outcome.shown)")
        }
        #expect(try FileState(path) == before && !FileManager.default.fileExists(atPath: keyring))
        // The first file's key does not prove the second's.
        let second = directory.file("second.db")
        try FileManager.default.copyItem(atPath: path, toPath: second)
        let both = try atTerminal(["new", "new"], ["change", path, second, "--key-file", oldKey])
        #expect(both.status == 0 && both.shown.ranges(of: "once more").count == 1, "\(both.shown)")
    }

    @Test func keyringIsUnlockedBeforeNewSecretPrompt() throws {
        let initial = try Program.run(
            Program.built("rekey"),
            ["keyring", "init", path, "--key-file", oldKey, "--new-key-file", oldKey]
        )
        #expect(initial.status == 0, "\(initial.errors)")
        for verb in [["add"], ["change"]] {
            let outcome = try atTerminal(["new", "new"], ["keyring"] + verb + [path, "--key-file", wrongKey])
            #expect(outcome.status == 77 && !outcome.shown.contains("New passphrase"), "\(verb): \(outcome.shown)")
        }
    }

    @Test func otherWordThanConfirmationIsAskedAgain() throws {
        let arguments = ["decrypt", path, "--key-file", oldKey]
        let before = try FileState(path)
        for refusal in [["no"], ["n"], ["yes", "yes", "yes"], ["yes", "no"]] {
            let outcome = try atTerminal(refusal, arguments)
            #expect(outcome.status == 64 && outcome.shown.contains("Nothing was written"), "\(outcome.shown)")
        }
        #expect(try FileState(path) == before)
        let outcome = try atTerminal(["yes", "plaintext"], arguments)
        #expect(outcome.status == 0 && outcome.shown.contains("Type the word 'plaintext'"), "\(outcome.shown)")
        #expect(try Program.run(Program.built("rekey"), ["inspect", path]).output.contains("plaintext"))
    }
}
