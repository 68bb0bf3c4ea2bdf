import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// `--command` and `--allow-command`.
@Suite(.once)
struct SlotCommandOptionTests {
    let directory: TemporaryDirectory
    let path: String
    var keyring: String { path + ".keyring" }
    let ada: String
    let secret: String
    var command: String { "/bin/cat \(secret)" }

    /// A database whose keyring opens with a key file, and by a command.
    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        ada = try directory.write(DatabaseKey.sampleBytes("Ada"), to: "ada.key")
        secret = try directory.write((0..<40).map { UInt8($0 * 6) }, to: "secret")
        let queue = try DatabaseQueue(path: path, key: .sample("Bob"))
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        let bob = try directory.write(DatabaseKey.sampleBytes("Bob"), to: "bob.key")
        let made = try rekey("keyring", "init", path, "--key-file", bob, "--new-key-file", ada)
        #expect(made.status == 0, "\(made.errors)")
        let added = try rekey("keyring", "add", path, "--key-file", ada, "--label", "machine", "--command", command)
        #expect(added.status == 0 && added.output.contains("slot 2"), "\(added.errors)")
    }

    /// Without a terminal.
    private func rekey(_ arguments: String...) throws -> Program.Outcome {
        try Program.run("/usr/bin/env", ["setsid", "--wait", Program.built("rekey")] + arguments)
    }

    private func atTerminal(_ answers: [String], _ arguments: String...) throws -> (shown: String, status: Int32) {
        try Program.atTerminal(Program.built("rekey"), arguments, answers: answers)
    }

    @Test func allowedCommandOpensDatabase() throws {
        let verified = try rekey("verify", path, "--keyring", keyring, "--allow-command", command)
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(verified.errors.contains("slot 2 “machine” runs \(command)\n"), "it is shown before it is run")
        // Otherwise quoted, it is the same.
        let quoted = try rekey("keyring", "unlock", path, "--allow-command", "'/bin/cat'  \"\(secret)\"")
        #expect(quoted.status == 0 && quoted.output.contains("slot 2"), "\(quoted.errors)")
    }

    @Test func commandDoesNotReadInputOfProcess() throws {
        let added = try Program.run(
            Program.built("rekey"),
            ["keyring", "add", path, "--key-file", ada, "--label", "input", "--command", "/bin/cat"],
            input: String(repeating: "a", count: 40)
        )
        #expect(added.status != 0 && added.errors.contains("the secret has 0 bytes"), "\(added.errors)")
    }

    @Test func commandNeedsPermission() throws {
        for arguments in [[], ["--allow-command", "/bin/cat \(secret)x"], ["--slot", "2"]] {
            let outcome = try Program.run(
                "/usr/bin/env",
                ["setsid", "--wait", Program.built("rekey"), "verify", path, "--keyring", keyring, "--json"] + arguments
            )
            #expect(outcome.status == 77 && outcome.output.contains("\"error\":\"commandNotAllowed\""))
            #expect(outcome.errors.contains("was not run: \(command); to allow it, give --allow-command"))
            #expect(!outcome.errors.contains(" runs "))
        }
    }

    @Test func terminalAsksBeforeCommandRuns() throws {
        let yes = try atTerminal(["yes"], "verify", path, "--keyring", keyring)
        #expect(yes.status == 0 && yes.shown.contains(command), "\(yes.shown)")
        for answer in ["", "y", "Yes", "no", "yes "] {
            let no = try atTerminal([answer, "some", "wrong", "passphrase"], "verify", path, "--keyring", keyring)
            #expect(no.status == 77 && no.shown.contains("Passphrase for"), "\(no.shown)")
            #expect(!no.shown.contains(" runs "))
        }
    }

    @Test func listShowsCommand() throws {
        let listed = try rekey("keyring", "list", path)
        #expect(listed.output.contains(": \(command)\n"), "\(listed.output)")
        #expect(listed.output.contains("command, changed "))
        #expect(try rekey("keyring", "list", path, "--json").output.contains("\"command\":\"\(command)\""))
    }

    @Test func malformedCommandIsUsageError() throws {
        let before = try FileState(keyring)
        for text in ["", "age", "/bin/cat < x", "/bin/cat 'x", "/bin/cat $HOME"] {
            let outcome = try rekey("keyring", "add", path, "--key-file", ada, "--command", text)
            #expect(outcome.status == 64 && outcome.errors.contains("command"), "\(text): \(outcome.errors)")
        }
        let both = try rekey("keyring", "add", path, "--key-file", ada, "--command", command, "--new-external")
        #expect(both.status == 64 && both.errors.contains("--command excludes"))
        let present = try rekey("verify", path, "--keyring", keyring, "--key-file", ada, "--allow-command", command)
        #expect(present.status == 64 && present.errors.contains("--allow-command excludes"))
        let without = try rekey("verify", path, "--allow-command", command)
        #expect(without.status == 64 && without.errors.contains("need --keyring"))
        #expect(try FileState(keyring) == before)
    }
}
