import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// The command as an operator runs it: arguments, output, exit status, files.
@Suite(
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .atTheEnds
)
struct RekeyCommandTests {
    let directory: TemporaryDirectory
    let path: String
    /// Files with passphrases, and with raw keys, which are not derived.
    let oldFile: String
    let newFile: String
    let oldKey: String
    let newKey: String

    enum Secret { case passphrase, fewIterations, rawKey }

    /// The engine's own format with a derivation that takes no time.
    private func quick() throws -> CipherFormat {
        try CipherFormat(#require(Engine.current.formats.first)) { $0.unsafeIterations = 10 }
    }

    /// Opens by a passphrase that is derived so.
    private func openQuickly(_ passphrase: String) throws {
        let format = try quick()
        let queue = try DatabaseQueue(
            path: path,
            key: .passphrase(passphrase),
            configuration: Configuration { $0.format = format }
        )
        try queue.close()
    }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        oldFile = try directory.write("old secret\n".utf8, to: "old.passphrase")
        newFile = try directory.write("new secret".utf8, to: "new.passphrase")
        oldKey = try directory.write(DatabaseKey.sampleBytes("old secret"), to: "old.key")
        newKey = try directory.write(DatabaseKey.sampleBytes("new secret"), to: "new.key")
    }

    private func rekey(
        _ arguments: String...,
        input: String = "",
        environment: [String: String] = [:]
    ) throws -> Program.Outcome {
        try Program.run(Program.built("rekey"), arguments, input: input, environment: environment)
    }

    private func make(_ mode: JournalMode = .delete, by secret: Secret = .rawKey) throws {
        let format = secret == .fewIterations ? try quick() : nil
        let queue = try DatabaseQueue(
            path: path,
            key: secret == .rawKey ? .sample("old secret") : .passphrase("old secret"),
            configuration: Configuration {
                $0.journalMode = mode
                $0.format = format
            }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func object(_ outcome: Program.Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test func inspectNamesFileKind() throws {
        for (bytes, kind, status) in [
            (Data(), "empty", 0), (Data("SQLite format 3\0".utf8) + Data(count: 500), "plaintext", 0),
            (Data("text".utf8), "notADatabase", 65),
        ] as [(Data, String, Int32)] {
            try bytes.write(to: URL(fileURLWithPath: path))
            let outcome = try rekey("inspect", path, "--json")
            #expect(outcome.status == status)
            #expect(try object(outcome)["kind"] as? String == kind)
        }
        try FileManager.default.removeItem(atPath: path)
        try make()
        #expect(try object(rekey("inspect", path, "--json"))["kind"] as? String == "encrypted")
        let found = try object(rekey("inspect", path, "--json", "--key-file", oldKey))
        let own = try #require(Engine.current.formats.first)
        #expect(found["format"] as? Int == own.version && found["pageSize"] as? Int == own.pageSize)
        #expect(try found["pageCount"] as? Int == FileState(path).bytes.count / own.pageSize)
        #expect(try rekey("inspect", path).output.contains("kind: encrypted"))
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func verifyNamesDamagedPages(mode: JournalMode) throws {
        try make(mode)
        let sound = try rekey("verify", path, "--json", "--key-file", oldKey)
        #expect(sound.status == 0 && sound.errors.isEmpty)
        let object = try object(sound)
        #expect(object["ok"] as? Bool == true && object["damagedPages"] as? [Int] == [])
        #expect(object["format"] as? Int == Engine.current.formats.first?.version && object["pages"] as? Int ?? 0 > 20)
        let size = try #require(object["pageSize"] as? Int)
        try flipByte(of: path, at: 10 * size + 5)
        let damaged = try rekey("verify", path, "--json", "--key-file", oldKey)
        #expect(damaged.status == 65)
        #expect(
            try self.object(damaged)["damagedPages"] as? [Int] == [11] && self.object(damaged)["ok"] as? Bool == false
        )
        #expect(try rekey("verify", path, "--key-file", oldKey).output.contains("damaged: page 11"))
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func changeChangesKey(mode: JournalMode) throws {
        let isPassphrase = mode == .delete
        try make(mode, by: isPassphrase ? .passphrase : .rawKey)
        let (source, old, new) =
            isPassphrase ? ("passphrase-file", oldFile, newFile) : ("key-file", oldKey, newKey)
        let outcome = try rekey("change", path, "--" + source, old, "--new-" + source, new, "--json")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(try object(outcome)["ok"] as? Bool == true)
        #expect(try rekey("verify", path, "--" + source, new).status == 0)
        #expect(try rekey("verify", path, "--" + source, old).status == 77)
        let shell = try #require(StockShell.ofThisFormat)
        let key = isPassphrase ? "key = 'new secret'" : SampleKey.named("new secret").pragma
        #expect(try shell.run(path, key: key, SampleFile.query) == [SampleFile.answer])
    }

    @Test func environmentFileAndDescriptorSupplySecrets() throws {
        try make(by: .fewIterations)
        let raw = try directory.write((0..<32).map { UInt8($0) }, to: "raw.key")
        let toRaw = try rekey(
            "change",
            path,
            "--file-kdf-iter",
            "10",
            "--passphrase-env",
            "OLD",
            "--new-key-file",
            raw,
            environment: ["OLD": "old secret"]
        )
        #expect(toRaw.status == 0, "\(toRaw.errors)")
        // Standard input is descriptor 0.
        let back = try rekey(
            "change",
            path,
            "--file-kdf-iter",
            "10",
            "--key-file",
            raw,
            "--new-passphrase-fd",
            "0",
            input: "third secret\n"
        )
        #expect(back.status == 0, "\(back.errors)")
        let last = try rekey(
            "change",
            path,
            "--file-kdf-iter",
            "10",
            "--passphrase-fd",
            "0",
            "--new-passphrase-env",
            "NEW",
            input: "third secret",
            environment: ["NEW": "fourth secret"]
        )
        #expect(last.status == 0, "\(last.errors)")
        try openQuickly("fourth secret")
    }

    private func atTerminal(_ answers: [String], _ arguments: String...) throws -> (shown: String, status: Int32) {
        try Program.atTerminal(Program.built("rekey"), arguments, answers: answers)
    }

    @Test func passphrasePromptDoesNotEcho() throws {
        try make(by: .fewIterations)
        let verified = try atTerminal(["old secret"], "verify", path, "--file-kdf-iter", "10")
        #expect(verified.status == 0 && verified.shown.contains("Passphrase of"))
        #expect(verified.shown.contains("█"), "progress is shown at a terminal")
        let changed = try atTerminal(
            ["old secret", "new secret", "new secret"],
            "change",
            path,
            "--file-kdf-iter",
            "10"
        )
        #expect(changed.status == 0 && changed.shown.contains("once more"), "\(changed.shown)")
        #expect(!verified.shown.contains("old secret") && !changed.shown.contains("secret"))
        try openQuickly("new secret")
    }

    @Test func mismatchedNewPassphraseChangesNothing() throws {
        try make(by: .fewIterations)
        let before = try FileState(path)
        let outcome = try atTerminal(
            ["old secret"] + Array(repeating: ["new secret", "new sceret"], count: 3).joined(),
            "change",
            path,
            "--file-kdf-iter",
            "10"
        )
        #expect(outcome.status == 64 && outcome.shown.contains("differ"))
        #expect(try FileState(path) == before)
    }

    @Test func exitStatusesMatchErrors() throws {
        try make()
        let wrong = try directory.write(DatabaseKey.sampleBytes("wrong"), to: "wrong.key")
        let open = try directory.write(DatabaseKey.sampleBytes("old secret"), to: "open.key", mode: 0o644)
        let short = try directory.write([1, 2, 3], to: "short.key")
        let missing = directory.file("missing.db")
        let plain = try directory.write(
            Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080),
            to: "plain.db"
        )
        let junk = try directory.write(String(repeating: "junk ", count: 1000).utf8, to: "junk.db")
        let before = try FileState(path)
        for (arguments, status, word) in [
            (["verify", path, "--key-file", oldKey], 0, ""),
            (["verify", path, "--key-file", wrong], 77, "wrong key"),
            (["change", path, "--key-file", wrong, "--new-key-file", newKey], 77, "wrong key"),
            (["verify", path, "--key-file", open], 77, "chmod 600"),
            (["verify", path, "--key-file", open, "--unsafe-permissions"], 0, ""),
            (["verify", path, "--key-file", short], 64, "hexadecimal"),
            (["verify", path, "--passphrase-file", directory.file("none")], 66, "No such file"),
            (["verify", path, "--passphrase-env", "CIPHERDB_NOT_SET"], 64, "missing or empty"),
            (["verify", path, "--passphrase-fd", "99"], 74, "descriptor 99"),
            (["verify", missing, "--key-file", oldKey], 66, "no such file"),
            (["inspect", missing], 66, "no such file"),
            (["verify", directory.path, "--key-file", oldKey], 65, "not a file"),
            (["verify", path, "--key-file", oldKey, "--wait", "0"], 0, ""),
            (["verify", plain, "--key-file", oldKey], 65, "plaintext"),
            (["verify", junk, "--key-file", oldKey], 65, "not a database"),
            (["verify", path, "--key-file", oldKey, "--passphrase-env", "X"], 64, "one of"),
            (
                ["change", "--in-place", path, "--key-file", oldKey, "--new-key-file", oldKey], 64,
                "same"
            ),
            (["verify"], 64, "file"), (["nonsense"], 64, "nonsense"),
            (["verify", path, "--passphrase", "x"], 64, "passphrase"),
        ] as [([String], Int32, String)] {
            let outcome = try Program.run(Program.built("rekey"), arguments)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            #expect(
                word.isEmpty ? outcome.errors.isEmpty : outcome.errors.contains(word),
                "\(arguments): \(outcome.errors)"
            )
        }
        #expect(try FileState(path) == before)
    }

    @Test func changeOfBusyFileIsRefused() throws {
        try make(.wal)
        let holder = try DatabaseQueue(path: path, key: .sample("old secret"))
        try holder.inDatabase { try $0.executeStatements("SELECT count(*) FROM people") }
        let outcome = try rekey("change", path, "--key-file", oldKey, "--new-key-file", newKey)
        #expect(
            outcome.status == 75 && outcome.errors.contains("process \(getpid()) holds a lock"),
            "\(outcome.errors)"
        )
        try holder.close()
        #expect(try rekey("verify", path, "--key-file", oldKey).status == 0)
    }

    @Test func unsupportedFormatIsReported() throws {
        let newest = try #require(StockShell.all.last)
        try SampleFile.make(at: path, by: newest, key: .named("old secret"), format: newest.format)
        let outcome = try rekey("verify", path, "--key-file", oldKey)
        let able = Engine.current.formats.contains { $0.version == newest.format }
        #expect(outcome.status == (able ? 0 : 69), "\(outcome.errors)")
        if !able { #expect(outcome.errors.contains("SQLCipher 4 or later")) }
    }

    @Test func errorsAreReportedAsJSONObject() throws {
        try make()
        let outcome = try rekey("verify", path, "--json", "--passphrase-env", "WRONG", environment: ["WRONG": "wrong"])
        let object = try object(outcome)
        #expect(object["exitStatus"] as? Int == 77 && (object["message"] as? String)?.contains("wrong key") == true)
        #expect(outcome.status == 77 && object["error"] as? String == "wrongKey")
        let missing = try self.object(rekey("inspect", directory.file("missing.db"), "--json"))
        #expect(missing["error"] as? String == "missing")
        for command in ["inspect", "verify", "cleanup"] {
            let keys = command == "cleanup" ? [] : ["--key-file", oldKey]
            let ofDirectory = try Program.run(Program.built("rekey"), [command, directory.path, "--json"] + keys)
            #expect(try self.object(ofDirectory)["error"] as? String == "notAFile", "\(command)")
        }
    }

    @Test func versionOptionNamesSQLCipher() throws {
        let outcome = try rekey("--version")
        #expect(outcome.output.contains(CipherDBVersion.current) && outcome.output.contains("SQLCipher"))
    }

    @Test func firstFailureSetsExitStatus() throws {
        try make(by: .fewIterations)
        let second = directory.file("second.db")
        try FileManager.default.copyItem(atPath: path, toPath: second)
        let missing = directory.file("missing.db")
        // One descriptor for both: the secret is read once.
        let outcome = try rekey(
            "verify",
            path,
            missing,
            second,
            "--file-kdf-iter",
            "10",
            "--passphrase-fd",
            "0",
            input: "old secret\n"
        )
        #expect(outcome.status == 66 && outcome.errors.contains("missing.db: no such file"))
        #expect(outcome.output.contains("3 files, 1 failed") && outcome.output.contains("\(second):"))
        let change = try rekey(
            "change",
            path,
            second,
            "--file-kdf-iter",
            "10",
            "--passphrase-file",
            oldFile,
            "--new-passphrase-file",
            newFile,
            "--json"
        )
        #expect(change.status == 0)
        let files = try change.output.split(separator: "\n").map { line in
            try (JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["file"] as? String
        }
        #expect(files == [path, second])
        #expect(
            try rekey("verify", path, second, "--file-kdf-iter", "10", "--passphrase-file", newFile, "--quiet").status
                == 0
        )
        let kept = try rekey("change", path, second, "--passphrase-file", newFile, "--keep-old", directory.file("kept"))
        #expect(kept.status == 64 && kept.errors.contains("exactly one"))
    }

    @Test func decryptNeedsConfirmation() throws {
        try make()
        let before = try FileState(path)
        let refused = try rekey("decrypt", path, "--key-file", oldKey, input: "plaintext\n")
        #expect(refused.status == 64 && refused.errors.contains("--yes-write-plaintext"))
        #expect(try FileState(path) == before)
        #expect(try rekey("decrypt", path, "--key-file", oldKey, "--yes-write-plaintext").status == 0)
        #expect(try rekey("inspect", path).output.contains("plaintext"))
        #expect(try rekey("encrypt", path, "--key-file", newKey).status == 0)
        #expect(try rekey("verify", path, "--key-file", newKey).status == 0)
        let larger = try rekey("migrate", path, "--key-file", newKey, "--page-size", "8192", "--json")
        #expect(try object(larger)["pageSize"] as? Int == 8192)
        #expect(try rekey("migrate", path, "--key-file", newKey, "--page-size", "1000").status == 64)
        #expect(try rekey("migrate", path, "--key-file", newKey, "--format", "1").status == 64)
        let copy = directory.file("copy.db")
        #expect(try rekey("copy", path, copy, "--key-file", newKey).status == 0)
        #expect(try rekey("verify", copy, "--key-file", newKey).status == 0)
        #expect(try rekey("copy", path, copy, "--key-file", newKey).status == 73)
        #expect(try rekey("cleanup", path).output.contains("nothing"))
    }

    @Test func recoverSavesRowsAndReportsMissing() throws {
        try make()
        let saved = directory.file("saved.db")
        let sound = try rekey("recover", path, saved, "--key-file", oldKey)
        #expect(sound.status == 0 && sound.output.contains("nothing is missing"))
        #expect(try rekey("recover", path, saved, "--key-file", oldKey).status == 73)
        try FileManager.default.removeItem(atPath: saved)
        let map = try DatabaseFile(path: path).map(key: .sample("old secret"))
        let size = try FileState(path).bytes.count / map.count
        let leaf = try #require(map.lastIndex(of: .tableLeaf))
        try flipByte(of: path, at: leaf * size + 99)
        let told = try rekey("recover", path, saved, "--key-file", oldKey, "--new-key-file", newKey)
        #expect(told.status == 65 && told.output.contains("may lack rows") && told.output.contains("page"))
        #expect(told.output.contains("page \(leaf + 1)\n") && !told.output.contains("lost_and_found"))
        #expect(try rekey("verify", saved, "--key-file", newKey).status == 0)
        let again = directory.file("again.db")
        let object = try object(rekey("recover", path, again, "--key-file", oldKey, "--json"))
        #expect(object["ok"] as? Bool == false && object["damagedPages"] as? [Int] == [leaf + 1])
        let table = try #require((object["tables"] as? [[String: Any]])?.first { $0["name"] as? String == "people" })
        #expect(table["lostPages"] as? Int == 1 && (table["missing"] as? [[Int]])?.count == 1)
    }

    @Test func inspectAdvisesMigratingOldFormats() throws {
        for shell in StockShell.all where shell.format <= (Engine.current.formats.first?.version ?? 0) {
            let file = directory.file("\(shell.version).db")
            try SampleFile.make(at: file, by: shell, key: .named("old secret"))
            let found = try object(rekey("inspect", file, "--json", "--key-file", oldKey))
            let advice = try #require(found["advice"] as? [String])
            #expect(advice.isEmpty == (shell.format == 4) && advice.allSatisfy { $0.contains("rekey migrate") })
        }
    }

    @Test(.slow, .once)
    func calibrationPrintsParametersThatAreNotWeak()
        throws
    {
        let outcome = try rekey("calibrate", "--milliseconds", "1")
        #expect(outcome.status == 0)
        // The least that is allowed, on a machine of any speed.
        #expect(
            outcome.output.contains("PBKDF2-SHA-512, 256000 iterations") && outcome.output.contains("scrypt, N=2^14")
        )
        #expect(try rekey("calibrate", "--milliseconds", "0").status == 64)
        let lines = try rekey("calibrate", "--milliseconds", "1", "--json").output.split(separator: "\n")
        #expect(lines.count >= 3)
    }

    @Test func mapReplacesNoFile() throws {
        try make()
        let before = try FileState(path)
        for target in [path, oldFile, directory.path] {
            let outcome = try rekey("verify", path, "--key-file", oldKey, "--map-svg", target)
            #expect(outcome.status == 64 && outcome.errors.contains("the file exists already"))
        }
        #expect(try FileState(path) == before)
        let nowhere = try rekey("verify", path, "--key-file", oldKey, "--map-svg", directory.file("no/map.svg"))
        #expect(nowhere.status == 74 && nowhere.errors.contains("No such file") && !nowhere.errors.contains("NSCocoa"))
    }

    @Test(.slow, .once) func customKDFIterationsMustBeSpecified()
        throws
    {
        try make(by: .passphrase)
        #expect(try rekey("migrate", path, "--passphrase-file", oldFile, "--kdf-iter", "300000").status == 0)
        #expect(try rekey("verify", path, "--passphrase-file", oldFile).status == 77)
        #expect(try rekey("verify", path, "--passphrase-file", oldFile, "--file-kdf-iter", "300000").status == 0)
        func migrate(_ options: String...) throws -> Program.Outcome {
            let known = ["migrate", path, "--passphrase-file", oldFile, "--file-kdf-iter", "300000"]
            return try Program.run(Program.built("rekey"), known + options)
        }
        #expect(try migrate().output.contains("nothing to do"))
        #expect(try migrate("--kdf-iter", "256000").errors.contains("--allow-weaker"))
        let back = try migrate("--kdf-iter", "256000", "--allow-weaker")
        #expect(back.status == 0, "\(back.errors)")
        #expect(try rekey("verify", path, "--passphrase-file", oldFile).status == 0)
        let again = try rekey("migrate", path, "--passphrase-file", oldFile)
        #expect(again.status == 0 && again.output.contains("nothing to do"))
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "this system has no /dev/full"))
    func unwritableResultIsFailure() throws {
        try make()
        let command =
            "exec '\(Program.built("rekey"))' verify '\(path)' --key-file '\(oldKey)' --json > /dev/full"
        let outcome = try Program.run("/bin/sh", ["-c", command])
        #expect(outcome.status == 74, "\(outcome.errors)")
    }

    /// Standard error that is full, closed, or read by nobody.
    @Test(arguments: ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true"])
    func failedStandardErrorDoesNotStopDecrypt(redirection: String) throws {
        try make()
        let queue = try DatabaseQueue(path: path, key: .sample("old secret"))
        // Large enough for progress to be told.
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE large (a); INSERT INTO large VALUES (zeroblob(20000000))")
        }
        try queue.close()
        let status = directory.file("status")
        let command = "'\(Program.built("rekey"))' decrypt '\(path)' --key-file '\(oldKey)' --yes-write-plaintext"
        _ = try Program.run("/bin/sh", ["-c", "{ \(command); echo $? > '\(status)'; } \(redirection)"])
        #expect(try String(decoding: FileState(status).bytes, as: UTF8.self) == "0\n")
        #expect(try FileState(path).bytes.starts(with: Data("SQLite format 3".utf8)))
        #expect(!directory.names.contains { $0.contains(".rekey-") })
    }

    @Test func closedStandardStreamIsNotReused() throws {
        for redirection in ["2>&-", ">&-", "<&- >&- 2>&-"] {
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.removeItem(atPath: path + ".keyring")
            try make()
            let command = "exec '\(Program.built("rekey"))' keyring init '\(path)' --key-file '\(oldKey)' "
            let outcome = try Program.run("/bin/sh", ["-c", command + "--new-key-file '\(newKey)' \(redirection)"])
            // Where the result could not be told that is a failure, though the work is done.
            #expect([0, 74].contains(outcome.status), "\(redirection): \(outcome.status)")
            let check = try rekey("verify", path, "--keyring", path + ".keyring", "--key-file", newKey)
            #expect(check.status == 0, "\(redirection): \(check.errors)")
        }
    }

    @Test func controlCharactersInNamesAreEscaped() throws {
        let name = directory.file("a\u{1b}[31mb.db")
        let outcome = try rekey("verify", name, "--key-file", oldKey)
        #expect(outcome.status == 66 && outcome.errors.contains("\\u{1b}") && !outcome.errors.contains("\u{1b}"))
    }

    @Test func dryRunFailsWhereRunWould() throws {
        try make()
        let taken = try directory.write([1], to: "taken")
        let elsewhere = try #require(directory.directoryElsewhere, "all directories are on one file system")
        for (kept, status) in [(taken, 73), (path + "-wal", 73), (elsewhere + "/kept.db", 73)] {
            for arguments in [["--dry-run"], []] {
                let change = ["change", path, "--key-file", oldKey, "--new-key-file", newKey]
                let outcome = try Program.run(Program.built("rekey"), change + ["--keep-old", kept] + arguments)
                #expect(outcome.status == status, "\(kept) \(arguments): \(outcome.errors)")
            }
        }
        #expect(try rekey("verify", path, "--key-file", oldKey).status == 0)
    }

    @Test(.slow, arguments: [SIGINT, SIGTERM])
    func signalLeavesFileUnchanged(signal: Int32) throws {
        try make()
        let key = try directory.write([UInt8](repeating: 7, count: 32), to: "raw.key")
        let queue = try DatabaseQueue(path: path, key: .sample("old secret"))
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE large (a)")
            let insert = try database.prepare("INSERT INTO large VALUES (zeroblob(100000))")
            for _ in 0..<400 { try insert.executeUpdate() }
        }
        try queue.close()
        let before = try FileState(path)
        let program = try StartedProgram(
            Program.built("rekey"),
            ["change", path, "--key-file", oldKey, "--new-key-file", key],
            output: .none,
            errors: .none
        )
        // When the new file is there the pages are on their way.
        while program.isRunning, !directory.names.contains(where: { $0.hasPrefix("test.db.rekey-") }) { usleep(500) }
        usleep(20_000)
        program.kill(signal)
        let ending = try program.wait()
        // It may have been done before the signal came; or the signal came before it was asked about.
        guard ending != -signal else { return #expect(try FileState(path) == before) }
        #expect([0, 130].contains(ending))
        if ending == 130 {
            #expect(try FileState(path) == before)
            #expect(!directory.names.contains { $0.hasPrefix("test.db.rekey-") })
        }
    }

    @Test func mapDrawsEachPageAndItsDamage() throws {
        try make()
        let size = try #require(Engine.current.formats.first?.pageSize)
        try flipByte(of: path, at: 4 * size + 7)
        let picture = directory.file("map.svg")
        let outcome = try rekey(
            "verify",
            path,
            "--map",
            "--map-svg",
            picture,
            "--pages-only",
            "--key-file",
            oldKey
        )
        #expect(outcome.status == 65)
        let cells = try #require(outcome.output.split(separator: "\n").first)
        // Letters, because the output is no terminal.
        #expect(cells.hasPrefix("T") && Array(cells)[4] == "X" && cells.count { $0 == "X" } == 1)
        #expect(outcome.output.contains("X damaged: 1"))
        let drawing = try String(contentsOfFile: picture, encoding: .utf8)
        #expect(drawing.contains("<title>page 5: damaged</title>") && drawing.hasSuffix("</svg>\n"))
        #expect(try rekey("verify", path, "--map", "--json", "--key-file", oldKey).status == 64)
    }

    @Test func dryRunChangesNothing() throws {
        try make()
        let leftover = try directory.write([1], to: "test.db.rekey-0123456789abcdef")
        let before = try FileState(path)
        let own = try #require(Engine.current.formats.first)
        let keys = ["--key-file", oldKey]
        for (arguments, byPages, format) in [
            (["change", path, "--new-key-file", newKey], true, own.version),
            (["migrate", path, "--page-size", "8192"], false, own.version), (["decrypt", path], true, nil),
        ] as [([String], Bool, Int?)] {
            let outcome = try Program.run(Program.built("rekey"), arguments + keys + ["--dry-run", "--json"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let plan = try object(outcome)
            #expect(plan["dryRun"] as? Bool == true && plan["byPages"] as? Bool == byPages)
            #expect(plan["format"] as? Int == format && plan["leftovers"] as? [String] == [leftover])
            #expect(plan["size"] as? Int == before.bytes.count && plan["neededSpace"] as? Int ?? 0 > before.bytes.count)
        }
        #expect(
            try rekey("decrypt", path, "--key-file", oldKey, "--dry-run").output.contains(
                "would write:  plaintext"
            )
        )
        #expect(try rekey("decrypt", path, "--key-file", newKey, "--dry-run").status == 77)
        #expect(try FileState(path) == before && directory.names.contains("test.db.rekey-0123456789abcdef"))
    }
}
