import CipherDB
import Foundation
import TestSupport
import Testing

/// What the command asks a person for, and when.
@Suite(.once) struct PromptTests {
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

    /// However the prompt ends.
    @Test func promptLeavesEchoOn() throws {
        let script = """
            import os, pty, signal, sys, termios
            # The threads of the tests hold signals back.
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(sys.argv[1], sys.argv[1:2] + sys.argv[3:])
            # Its terminal ends with this program.
            signal.alarm(300)
            echoes = lambda: bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
            shown = b""
            while not shown.rstrip().endswith(b":"):
                shown += os.read(terminal, 1000)
            asked = echoes()
            if sys.argv[2] == "TERM":
                os.kill(pid, signal.SIGTERM)
            else:
                os.write(terminal, sys.argv[2].encode().decode("unicode_escape").encode())
            try:
                while True:
                    # A wrong passphrase is asked for again.
                    if os.read(terminal, 1000).rstrip().endswith(b":"):
                        os.write(terminal, b"\\x03")
            except OSError:
                pass
            os.waitpid(pid, 0)
            print(asked, echoes())
            """
        // A line, the end of input, the interrupt key, and a signal.
        for answer in ["wrong\\n", "\\x04", "\\x03", "TERM"] {
            let outcome = try Program.run(
                "/usr/bin/python3",
                ["-c", script, Program.built("rekey"), answer, "verify", path]
            )
            #expect(outcome.output == "False True\n", "\(answer): \(outcome.output)\(outcome.errors)")
        }
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

    private func makeKeyring() throws -> [String] {
        let initial = try Program.run(
            Program.built("rekey"),
            ["keyring", "init", path, "--key-file", oldKey, "--new-passphrase-file"]
                + [try directory.write("the passphrase\n".utf8, to: "p")]
        )
        #expect(initial.status == 0, "\(initial.errors)")
        return ["--keyring", path + ".keyring"]
    }

    @Test func mistypedPassphraseIsAskedAgain() throws {
        let keyring = try makeKeyring()
        for answers in [["the passphrase"], ["wrong", "the passphrase"], ["wrong", "", "the passphrase"]] {
            let outcome = try atTerminal(answers, ["verify", path] + keyring)
            #expect(outcome.status == 0, "\(outcome.shown)")
            #expect(outcome.shown.ranges(of: "try again").count == answers.count - 1, "\(outcome.shown)")
        }
        let wrong = try atTerminal(["a", "b", "c"], ["verify", path] + keyring)
        #expect(wrong.status == 77 && wrong.shown.contains("wrong secret"), "\(wrong.shown)")
        let mistyped = try atTerminal(["0", "1", "2"], ["verify", path, "--recovery"] + keyring)
        #expect(mistyped.status == 64 && mistyped.shown.ranges(of: "try again").count == 2, "\(mistyped.shown)")
        // A file has the same passphrase each time.
        let file = try directory.write("wrong\n".utf8, to: "wrong")
        let once = try Program.run(Program.built("rekey"), ["verify", path, "--passphrase-file", file] + keyring)
        #expect(once.status == 77 && !once.errors.contains("try again"), "\(once.errors)")
    }

    @Test func mistypedPassphraseOfFileIsAskedAgain() throws {
        let passphrase = try directory.write("the passphrase\n".utf8, to: "p")
        let changed = try Program.run(
            Program.built("rekey"),
            ["change", path, "--key-file", oldKey, "--new-passphrase-file", passphrase]
        )
        #expect(changed.status == 0, "\(changed.errors)")
        let second = directory.file("second.db")
        try FileManager.default.copyItem(atPath: path, toPath: second)
        let outcome = try atTerminal(["wrong", "the passphrase"], ["verify", path, second])
        #expect(outcome.status == 0 && outcome.shown.ranges(of: "try again").count == 1, "\(outcome.shown)")
        // The last one is tried on each file.
        let wrong = try atTerminal(["a", "b", "c"], ["verify", path, second])
        #expect(wrong.status == 77 && wrong.shown.contains("2 files, 2 failed"), "\(wrong.shown)")
        let new = try atTerminal(["a", "b", "", "", "new", "new"], ["change", path, "--passphrase-file", passphrase])
        #expect(new.status == 0 && new.shown.ranges(of: "try again").count == 2, "\(new.shown)")
    }

    @Test func mistypedRecoveryCodeIsAskedAgain() throws {
        _ = try makeKeyring()
        let answers = ["the passphrase", "0", "", String(repeating: "0", count: 40)]
        let outcome = try atTerminal(answers, ["keyring", "recovery", path])
        #expect(outcome.status == 64 && outcome.shown.contains("the printed code opens nothing"), "\(outcome.shown)")
        #expect(outcome.shown.ranges(of: "try again").count == 2, "\(outcome.shown)")
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

    @Test
    func anySignalAtPromptRestoresEcho() throws {
        let signals = [
            "HUP", "INT", "QUIT", "TERM", "ALRM", "USR1", "USR2", "XCPU", "VTALRM", "PROF", "IO", "PWR", "STKFLT",
            "RTMIN",
            "RTMAX",
        ]
        let lines = try Program.signalledAtPrompt(Program.built("rekey"), ["verify", path], signals: signals)
        #expect(lines.count >= 10 && lines.allSatisfy { $0.hasSuffix(" False True") }, "\(lines)")
    }
}
