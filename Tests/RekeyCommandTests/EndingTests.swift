import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// However a run ends, it leaves a database that opens, and nothing beside it.
@Suite(.slow, .once) struct EndingTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        _ = try directory.write(DatabaseKey.sampleBytes("old"), to: "old")
        _ = try directory.write(DatabaseKey.sampleBytes("new"), to: "new")
    }

    private func make() throws {
        for name in directory.names where name.hasPrefix("test.db") || name == "out.db" {
            try FileManager.default.removeItem(atPath: directory.file(name))
        }
        let queue = try DatabaseQueue(path: path, key: .sample("old"))
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    /// The runs that write a database.
    static let writing = [
        "change test.db --key-file old --new-key-file new", "decrypt test.db --key-file old --yes-write-plaintext",
        "migrate test.db --key-file old --page-size 8192", "copy test.db out.db --key-file old --new-key-file new",
        "recover test.db out.db --key-file old", "keyring init test.db --key-file old --new-key-file new",
    ]
    static let reading = [
        "inspect test.db", "verify test.db --key-file old --json", "cleanup test.db", "calibrate --json",
    ]

    /// Each signal meets one command, and each command one signal; all of each other where everything is enumerated.
    static let signals: [(String, String)] = {
        let names = ["TERM", "HUP", "INT", "QUIT", "XCPU", "USR1", "IO", "PROF"]
        let commands = writing.dropLast()
        let others = Extent.isNewestEngine ? names.dropFirst() : []
        return commands.map { (names[0], $0) }
            + (Extent.isComplete
                ? others.flatMap { name in commands.map { (name, $0) } } : others.map { ($0, writing[0]) })
    }()

    private func run(_ line: String, _ rest: String = "") throws -> Program.Outcome {
        let script = "cd '\(directory.path)' && \(line.replacing("REKEY", with: Program.built("rekey"))) \(rest)"
        return try Program.run("/bin/sh", ["-c", script])
    }

    private func opensWithOneKey() throws -> Bool {
        let keyring = path + ".keyring"
        let options = [["--key-file", directory.file("old")], ["--key-file", directory.file("new")]]
        let ways =
            options
            + (FileManager.default.fileExists(atPath: keyring) ? options.map { ["--keyring", keyring] + $0 } : [])
        return try ways.contains { try Program.run(Program.built("rekey"), ["verify", path] + $0).status == 0 }
    }

    /// A signal as soon as the new file has a name: its lock is the first one that is asked for.
    @Test(
        .enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"),
        arguments: signals
    )
    func signalLeavesNoNewFile(signal: String, command: String) throws {
        try make()
        let before = try FileState(path)
        // Under nohup, or in the background of a shell, the tests inherit signals that are ignored.
        let trace =
            "env --default-signal strace -f -o /dev/null -e trace=flock -e inject=flock:signal=SIG\(signal):when=1"
        let outcome = try run("\(trace) REKEY \(command)")
        #expect(outcome.status == 130, "\(outcome.status) \(outcome.errors)")
        #expect(try FileState(path) == before)
        #expect(directory.names == ["new", "old", "test.db"])
    }

    /// A signal when the key is read, and when the first file of the repository is made.
    @Test(.enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"))
    func signalLeavesNothingOfBackup() throws {
        for injection in ["-P old -e trace=openat -e inject=openat", "-e trace=flock -e inject=flock"] {
            try make()
            let trace = "env --default-signal strace -f -o /dev/null \(injection):signal=SIGTERM:when=1"
            let outcome = try run("\(trace) REKEY backup test.db repository --key-file old")
            #expect(outcome.status == 130, "\(injection): \(outcome.status) \(outcome.errors)")
            let names = FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String] ?? []
            #expect(!names.contains { $0.contains(".new-") || $0.contains("generations/") }, "\(names)")
        }
    }

    /// A signal, and the limit of a file's size, while a keyring or metrics are written.
    @Test(
        .enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"),
        arguments: [
            "keyring add test.db --key-file new --new-key-file old", "keyring rotate test.db --key-file new",
            "keyring backup test.db bk --key-file new", "status test.db --prometheus m.prom",
        ]
    )
    func signalLeavesNoNewKeyringAndMetrics(command: String) throws {
        let secret = try KeySource.file(path: directory.file("new")).readKeyringSecret(.keyFile)
        for ending in ["TERM", "HUP", "XFSZ", ""] {
            for name in directory.names where !["old", "new"].contains(name) {
                try FileManager.default.removeItem(atPath: directory.file(name))
            }
            try SampleFile.make(at: path, under: Keyring(besideDatabase: path), secret)
            let trace =
                ending.isEmpty
                ? "ulimit -f 0;"
                : "env --default-signal strace -f -o /dev/null -e trace=fsync -e inject=fsync:signal=SIG\(ending):when=1"
            let outcome = try run("\(trace) REKEY \(command)")
            #expect(outcome.status != 0 || ending == "XFSZ", "\(ending): \(outcome.errors)")
            #expect(!directory.names.contains { $0.contains(".new-") }, "\(ending): \(directory.names)")
            // An opening ends a rotation that was begun.
            let database = Database(path: path)
            try database.open(key: .keyring(Keyring(besideDatabase: path), unlockedBy: secret), flags: .readWrite)
            #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
            database.close()
        }
    }

    /// The engine says nothing where it cannot remove its journal.
    @Test(.enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"))
    func inPlaceChangeRemovesOrReportsJournal() throws {
        for (times, status, names) in [
            ("1", 0, ["new", "old", "test.db"]), ("1+", 70, ["new", "old", "test.db", "test.db-journal"]),
        ] {
            try make()
            let trace = "strace -f -o /dev/null -e trace=unlink -e inject=unlink:error=EIO:when=\(times)"
            let outcome = try run("\(trace) REKEY change test.db --in-place --key-file old --new-key-file new")
            #expect(outcome.status == status, "\(outcome.status) \(outcome.errors)")
            #expect(directory.names == names)
            #expect(status == 0 || outcome.errors.contains("test.db-journal"), "\(outcome.errors)")
            let database = Database(path: path)
            try database.open(key: .sample("new"), flags: .readOnly)
            #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
            database.close()
        }
    }

    @Test(.enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"))
    func ignoredSignalStaysIgnored() throws {
        try make()
        let trace = "trap '' HUP; strace -f -o /dev/null -e trace=flock -e inject=flock:signal=SIGHUP:when=1"
        let outcome = try run("{ \(trace) REKEY \(Self.writing[0]); }")
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "this system has no /dev/full")
    )
    func failedStreamLeavesNoNewFile() throws {
        let redirections = [">/dev/full 2>&1", ">&- 2>&-", "<&- >&- 2>&-", "2>&1 | true"]
        for (number, command) in (Self.writing + Self.reading).enumerated() {
            // Two of them, by turns, unless everything is enumerated.
            for (other, redirection) in redirections.enumerated() where Extent.isComplete || (number + other) % 2 == 0 {
                try make()
                let plaintext = command.hasPrefix("decrypt")
                let outcome = try run("{ REKEY \(command); echo $? > status; }", redirection)
                let status = Int(
                    try String(contentsOfFile: directory.file("status"), encoding: .utf8).filter(\.isNumber)
                )
                try FileManager.default.removeItem(atPath: directory.file("status"))
                // What could not be said is an error of writing, though the work is done.
                #expect([0, 74].contains(status), "\(command) \(redirection): \(status ?? -1) \(outcome.errors)")
                #expect(
                    !directory.names.contains { $0.contains(".rekey-") || $0.contains(".new-") },
                    "\(command) \(redirection)"
                )
                #expect(try plaintext || opensWithOneKey(), "\(command) \(redirection)")
            }
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "this system has no /dev/full"))
    func failedReportSaysOperationCompleted() throws {
        try make()
        let outcome = try run("{ REKEY \(Self.writing[0]); }", ">/dev/full")
        #expect(outcome.status == 74)
        #expect(outcome.errors.contains("No space left on device; the operation itself was completed"))
    }

    @Test
    func fileSizeLimitLeavesNoNewFile() throws {
        for command in Self.writing.dropLast() {
            try make()
            let before = try FileState(path)
            let outcome = try run("ulimit -f 4; REKEY \(command)")
            #expect(outcome.status == 74 || outcome.status == 1, "\(command): \(outcome.status) \(outcome.errors)")
            #expect(try FileState(path) == before)
            #expect(directory.names == ["new", "old", "test.db"], "\(command)")
        }
    }

    /// Wherever the limit is met, also while indexes are made.
    @Test
    func recoveryWithoutRoomLeavesNoNewFile() throws {
        try make()
        let database = try DatabaseQueue(path: path, key: .sample("old"))
        try database.inDatabase {
            try $0.executeStatements("CREATE TABLE texts (a); CREATE UNIQUE INDEX i ON texts (a)")
            try $0.executeUpdate("INSERT INTO texts VALUES (?)", forEach: 0..<300) {
                "\($0)" + String(repeating: "a", count: 900)
            }
        }
        try database.close()
        _ = try run("REKEY \(Self.writing[4])")
        let blocks = try FileState(directory.file("out.db")).bytes.count / 512
        try FileManager.default.removeItem(atPath: directory.file("out.db"))
        for room in [blocks / 8, blocks / 2, blocks * 3 / 4, blocks * 7 / 8, blocks - 8] {
            let outcome = try run("ulimit -f \(room); REKEY \(Self.writing[4])")
            #expect(outcome.status == 74, "\(room) of \(blocks): \(outcome.status) \(outcome.errors)")
            #expect(directory.names == ["new", "old", "test.db"], "\(room) of \(blocks)")
        }
    }

    /// A command that is run before the variable is read.
    @Test
    func passphraseCommandGetsNoOtherSecret() throws {
        try make()
        let script = directory.file("command")
        _ = try directory.write(
            "#!/bin/sh\nenv > '\(directory.file("environment"))'\necho old\n".utf8,
            to: "command",
            mode: 0o700
        )
        let other = directory.file("other.db")
        try DatabaseQueue(path: other, key: .passphrase("hidden")).close()
        let copy = directory.file("copy.db")
        for (command, status) in [
            (["change", path, "--passphrase-command", script, "--new-passphrase-env", "A_SECRET"], 77),
            (["change", path, "--new-passphrase-env", "A_SECRET", "--passphrase-command", script], 77),
            (["copy", path, copy, "--passphrase-command", script, "--new-passphrase-env", "A_SECRET"], 77),
            (["keyring", "init", path, "--passphrase-command", script, "--new-passphrase-env", "A_SECRET"], 77),
            (["change", other, "--passphrase-env", "A_SECRET", "--new-passphrase-command", script], 0),
        ] {
            let environment = directory.file("environment")
            try? FileManager.default.removeItem(atPath: environment)
            let outcome = try Program.run(
                Program.built("rekey"),
                command,
                environment: ["A_SECRET": "hidden", "A_SECRET_NOT": "shown"]
            )
            #expect(outcome.status == Int32(status), "\(command): \(outcome.errors)")
            let found = try String(contentsOfFile: environment, encoding: .utf8)
            #expect(found.contains("A_SECRET_NOT=shown") && !found.contains("hidden"), "\(command)")
        }
    }

    /// The program that carries objects of a repository is started before the secret is needed.
    @Test(
        arguments: [
            "restore rclone:there:x out.db --passphrase-env SECRET",
            "backups check rclone:there:x --passphrase-env SECRET",
            "backup test.db rclone:there:x --passphrase-env SECRET",
        ]
    )
    func programsGetNoVariableWithSecret(command: String) throws {
        try make()
        _ = try Program.run("/bin/mkdir", [directory.file("bin")])
        let program = "#!/bin/sh\nenv >> '\(directory.file("environment"))'\nexit 1\n"
        _ = try directory.write(program.utf8, to: "bin/rclone", mode: 0o700)
        let outcome = try run("PATH=\"$PWD/bin:$PATH\" SECRET=hidden SECRET_NOT=shown REKEY \(command)")
        #expect(outcome.status != 0)
        let environment = (try? String(contentsOfFile: directory.file("environment"), encoding: .utf8)) ?? ""
        #expect(!environment.contains("hidden"), "\(environment)")
        // A backup proves the secret first.
        #expect(environment.contains("SECRET_NOT=shown") || command.hasPrefix("backup test.db"), "\(outcome.errors)")
    }

    /// A child that another thread forks would keep what is open for a moment.
    @Test(.enabled(if: CrashStates.isAvailable, "strace is missing, or may not trace: run make setup"))
    func everyDescriptorIsClosedInChildrenAtOnce() throws {
        try make()
        let calls = "open,openat,pipe,pipe2,memfd_create,socket,dup,dup2,dup3"
        for command in [
            "change test.db --passphrase-command 'cat old' --new-key-file new",
            "backup test.db rclone:there:x --key-file old",
            Self.writing[5],
        ] {
            try make()
            let trace = "strace -o trace -e trace=\(calls)"
            _ = try run("\(trace) REKEY \(command)")
            let lines = try String(contentsOfFile: directory.file("trace"), encoding: .utf8).split(separator: "\n")
            // What the C library and OpenSSL read for themselves.
            let others = ["/proc/self/maps", "openssl.cnf"]
            let open = lines.filter { line in
                line.contains("(") && !line.contains("= -1") && !line.hasPrefix("---")
                    && !others.contains { line.contains($0) }
            }
            #expect(open.count > 10)
            #expect(lines.contains { $0.contains("pipe2(") } || command == Self.writing[5])
            #expect(open.filter { !$0.contains("CLOEXEC") } == [], "\(command)")
            try FileManager.default.removeItem(atPath: directory.file("trace"))
        }
    }

    @Test
    func jsonEscapesWhatChangesDisplay() throws {
        try make()
        let name = "a\u{202E}b\u{2028}\u{E0001}\u{7F}.db"
        try FileManager.default.moveItem(atPath: path, toPath: directory.file(name))
        defer { try? FileManager.default.removeItem(atPath: directory.file(name)) }
        for command in ["inspect", "verify --key-file old", "status"] {
            let outcome = try run("REKEY \(command) --json '\(name)'")
            #expect(
                outcome.output.contains(#"a\u202eb\u2028\udb40\udc01\u007f.db"#)
                    && !outcome.output.unicodeScalars.contains { $0 != "\n" && $0.changesDisplay },
                "\(outcome.output)"
            )
            let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            #expect(object?["file"] as? String == name)
        }
    }

    /// The parser quotes what it does not expect: names of files may come from a pattern.
    @Test
    func parserErrorsChangeNoDisplay() throws {
        for argument in ["x\u{1B}]0;y\u{7}", "--\u{1B}[31mred", "a\nrekey: b", "--at=\u{202E}\nrekey: b"] {
            let outcome = try Program.run(Program.built("rekey"), ["restore", "r", "o", "n", argument])
            #expect(outcome.status == 64 && outcome.errors.contains("\\u{"), "\(outcome.errors)")
            #expect(!outcome.errors.unicodeScalars.contains { $0 != "\n" && $0.changesDisplay }, "\(outcome.errors)")
            #expect(!outcome.errors.contains("\nrekey: b"), "\(outcome.errors)")
        }
    }

    @Test
    func bidirectionalControlsAreRefusedOrEscaped() throws {
        try make()
        let key = try KeyringSecret.sample("new")
        let keyring = Keyring(besideDatabase: path)
        for label in ["a\u{202E}b", "a\u{2028}b", "a\u{2066}b", "a\u{85}b"] {
            #expect(throws: KeyringError.self) { try keyring.create(with: key, label: label) }
        }
        let outcome = try run("REKEY inspect 'a\u{202E}b\u{2028}.db'")
        #expect(outcome.errors.contains("a\\u{202e}b\\u{2028}.db"), "\(outcome.errors)")
    }
}
