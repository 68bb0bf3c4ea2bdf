import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// `--command` and `--allow-command`.
@Suite(.enabled(if: Extent.isNewestEngine, "\(Extent.newestOnly)"))
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

    private func atTerminal(_ answer: String, _ arguments: String...) throws -> Program.Outcome {
        let script = """
            import os, pty, sys, time
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])
            shown, answers = b"", sys.argv[2].split("|")
            while True:
                try:
                    part = os.read(terminal, 1000)
                except OSError:
                    break
                if not part:
                    break
                shown += part
                if shown.endswith(b": ") and answers:
                    time.sleep(0.1)
                    os.write(terminal, answers.pop(0).encode() + b"\\n")
            sys.stdout.write(shown.decode(errors="replace"))
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        return try Program.run("/usr/bin/python3", ["-c", script, Program.built("rekey"), answer] + arguments)
    }

    @Test func allowedCommandOpensDatabase() throws {
        let verified = try rekey("verify", path, "--keyring", keyring, "--allow-command", command)
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(verified.errors.contains("slot 2 “machine” runs \(command)\n"), "it is shown before it is run")
        // Otherwise quoted, it is the same.
        let quoted = try rekey("keyring", "unlock", path, "--allow-command", "'/bin/cat'  \"\(secret)\"")
        #expect(quoted.status == 0 && quoted.output.contains("slot 2"), "\(quoted.errors)")
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
        let yes = try atTerminal("yes", "verify", path, "--keyring", keyring)
        #expect(yes.status == 0 && yes.output.contains(command), "\(yes.output)")
        for answer in ["", "y", "Yes", "no", "yes "] {
            let no = try atTerminal("\(answer)|some passphrase", "verify", path, "--keyring", keyring)
            #expect(no.status == 77 && no.output.contains("Passphrase for"), "\(no.output)")
            #expect(!no.output.contains(" runs "))
        }
    }

    @Test func listShowsCommand() throws {
        let listed = try rekey("keyring", "list", path)
        #expect(listed.output.contains("command \(command), changed"), "\(listed.output)")
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
