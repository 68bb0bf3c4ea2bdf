import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// `rekey keyring` and `--keyring` as an operator runs them.
@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .once
)
struct KeyringCommandTests {
    let directory: TemporaryDirectory
    let path: String
    var keyring: String { path + ".keyring" }
    /// Files with passphrases, and with raw keys, which are not derived.
    let ada: String
    let bob: String
    let adaKey: String
    let bobKey: String

    enum Secret { case passphrase, rawKey }
    let keyFile: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        ada = try directory.write("Ada's passphrase\n".utf8, to: "ada")
        bob = try directory.write("Bob's passphrase".utf8, to: "bob")
        adaKey = try directory.write(DatabaseKey.sampleBytes("Ada"), to: "ada.key")
        bobKey = try directory.write(DatabaseKey.sampleBytes("Bob"), to: "bob.key")
        keyFile = try directory.write((0..<40).map { UInt8($0 * 5) }, to: "key file")
    }

    private func rekey(_ arguments: String...) throws -> Program.Outcome {
        try Program.run(Program.built("rekey"), arguments)
    }

    /// A database under a key of its own, that of Bob.
    private func makeDatabase(by secret: Secret = .rawKey) throws {
        let key = try secret == .passphrase ? DatabaseKey.passphrase("Bob's passphrase") : .sample("Bob")
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    /// The same under a keyring that Ada's secret opens.
    private func make(by secret: Secret = .rawKey) throws {
        try makeDatabase(by: secret)
        let secrets =
            switch secret {
            case .passphrase: ["--passphrase-file", bob, "--new-passphrase-file", ada]
            case .rawKey: ["--key-file", bobKey, "--new-key-file", adaKey]
            }
        let arguments = ["keyring", "init", path, "--label", "Ada"] + secrets
        let outcome = try Program.run(Program.built("rekey"), arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func opens(_ option: String, _ secret: String, _ more: String...) throws -> Bool {
        let arguments = ["verify", path, "--keyring", keyring, option, secret] + more
        let outcome = try Program.run(Program.built("rekey"), arguments)
        #expect([0, 77].contains(outcome.status), "\(outcome.errors)")
        return outcome.status == 0
    }

    private func object(_ outcome: Program.Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test func initMovesDatabaseToKeyring() throws {
        try make(by: .passphrase)
        #expect(try opens("--passphrase-file", ada))
        #expect(try !opens("--passphrase-file", bob))
        #expect(try rekey("verify", path, "--passphrase-file", bob).status == 77)
        #expect(directory.names == ["ada", "ada.key", "bob", "bob.key", "key file", "test.db", "test.db.keyring"])
        let again = try rekey("keyring", "init", path, "--passphrase-file", bob, "--new-passphrase-file", ada)
        #expect(again.status != 0)
    }

    @Test func initEncryptsPlaintextOrPreparesKeyring() throws {
        let queue = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        #expect(try rekey("keyring", "init", path, "--new-key-file", keyFile).status == 0)
        #expect(try opens("--key-file", keyFile))

        let coming = directory.file("coming.db")
        #expect(try rekey("keyring", "init", coming, "--new-passphrase-file", ada).status == 0)
        let queue2 = try DatabaseQueue(
            path: coming,
            key: .keyring(Keyring(besideDatabase: coming), unlockedBy: .passphrase("Ada's passphrase"))
        )
        try queue2.close()
    }

    @Test func initThatFailsLeavesNoKeyring() throws {
        try makeDatabase()
        let before = try FileState(path)
        let wrong = try rekey("keyring", "init", path, "--key-file", adaKey, "--new-key-file", bobKey)
        #expect(wrong.status == 77)
        let other = try DatabaseQueue(path: path, key: .sample("Bob"))
        let outcome = try other.inDatabase { database in
            try database.beginTransaction(.immediate)
            defer { try? database.rollback() }
            return try rekey("keyring", "init", path, "--key-file", bobKey, "--new-key-file", adaKey)
        }
        #expect(outcome.status == 75)
        try other.close()
        #expect(try FileState(path) == before)
        #expect(!FileManager.default.fileExists(atPath: keyring))
    }

    @Test func slotsAreAddedChangedAndRemoved() throws {
        try make(by: .passphrase)
        let before = try FileState(path)
        #expect(
            try rekey(
                "keyring",
                "add",
                path,
                "--passphrase-file",
                ada,
                "--new-passphrase-file",
                bob,
                "--label",
                "Bob",
                "--kdf",
                "scrypt"
            ).status == 0
        )
        #expect(
            try rekey("keyring", "add", path, "--passphrase-file", ada, "--new-key-file", keyFile, "--new-external")
                .status == 0
        )
        let list = try object(rekey("keyring", "list", path, "--json"))
        let slots = try #require(list["slots"] as? [[String: Any]])
        #expect(slots.map { $0["label"] as? String } == ["Ada", "Bob", ""])
        #expect(slots.map { $0["kind"] as? String } == ["passphrase", "passphrase", "external secret"])
        #expect((slots[1]["kdf"] as? String)?.hasPrefix("scrypt") == true)
        #expect(try opens("--passphrase-file", bob))
        #expect(try opens("--key-file", keyFile, "--external"))
        #expect(try !opens("--key-file", keyFile))
        #expect(try !opens("--passphrase-file", bob, "--slot", "1"))

        let third = try directory.write("a third".utf8, to: "third")
        #expect(
            try rekey("keyring", "change", path, "--passphrase-file", bob, "--new-passphrase-file", third).status == 0
        )
        #expect(try !opens("--passphrase-file", bob))
        #expect(try opens("--passphrase-file", third))
        #expect(try rekey("keyring", "remove", path, "2", "--passphrase-file", ada).status == 0)
        #expect(try !opens("--passphrase-file", third))
        #expect(try rekey("keyring", "remove", path, "1", "--passphrase-file", ada).status == 64)
        #expect(try rekey("keyring", "remove", path, "1", "--passphrase-file", ada, "--force").status == 0)
        #expect(try opens("--key-file", keyFile, "--external"))
        #expect(try FileState(path) == before)
    }

    @Test func recoveryCommandNeedsCodeTypedBack() throws {
        try make()
        let added = try Program.run(
            Program.built("rekey"),
            ["keyring", "recovery", path, "--key-file", adaKey],
            typingBack: 48
        )
        #expect(added.status == 0)
        let code = String(added.output.prefix(48))
        let written = try directory.write(code.utf8, to: "code")
        #expect(try opens("--passphrase-file", written, "--recovery"))

        let refused = try Program.run(
            Program.built("rekey"),
            ["keyring", "recovery", path, "--key-file", adaKey],
            input: code
        )
        #expect(refused.status == 64)
        #expect(refused.errors.contains("nothing was added; the printed code opens nothing"), "\(refused.errors)")
        let mistyped = try Program.run(
            Program.built("rekey"),
            ["keyring", "recovery", path, "--key-file", adaKey],
            input: (code.hasPrefix("0") ? "1" : "0") + code.dropFirst()
        )
        #expect(mistyped.status == 64)
        for text in ["the recovery code is mistyped in group 1", "the printed code opens nothing"] {
            #expect(mistyped.errors.contains(text), "\(mistyped.errors)")
        }
        #expect(try Keyring(path: keyring).content().slots.count == 2)
    }

    @Test func rotateChangesKeyForAllSlots() throws {
        try make()
        let export = { try rekey("keyring", "unlock", path, "--key-file", adaKey, "--export-raw-key").output }
        let old = try export()
        #expect(old.count == 65)
        #expect(try rekey("keyring", "rotate", path, "--key-file", adaKey).status == 0)
        let new = try export()
        #expect(new != old)
        let shell = try #require(StockShell.all.first { $0.format == Engine.current.formats.first?.version })
        let digits = new.trimmingCharacters(in: .newlines)
        #expect(try shell.run(path, key: "key = \"x'\(digits)'\"", SampleFile.query) == [SampleFile.answer])
    }

    @Test(arguments: ["resume", "cancel"])
    func interruptedRotationIsResumedOrCancelled(verb: String) throws {
        try make()
        let unlocked = try Keyring(path: keyring).unlock(.sample("Ada"))
        _ = try unlocked.withLock { try $0.beginRotation() }
        let status = try object(rekey("keyring", "status", path, "--key-file", adaKey, "--json"))
        #expect(status["rotationPending"] as? Bool == true && status["database"] as? String == "current")
        let refused = try rekey("verify", path, "--keyring", keyring, "--key-file", adaKey, "--json")
        // Whichever key fits is taken, by what leaves the key alone.
        #expect(refused.status == 0)
        #expect(try rekey("keyring", "rotate", path, "--key-file", adaKey).status == 1)
        #expect(try rekey("inspect", path).output.contains("rekey keyring resume"))
        #expect(try rekey("keyring", verb, path, "--key-file", adaKey).status == 0)
        #expect(try opens("--key-file", adaKey))
        let again = try rekey("keyring", verb, path, "--key-file", adaKey)
        #expect(again.status == 0 && again.output.contains("nothing to do"))
    }

    @Test func statusNamesKeyOfDatabase() throws {
        try make()
        let status = try rekey("keyring", "status", path, "--key-file", adaKey)
        #expect(status.output.contains("under the current key of the keyring"))
        try FileManager.default.removeItem(atPath: path)
        try makeDatabase()
        let other = try rekey("keyring", "status", path, "--key-file", adaKey, "--json")
        #expect(other.status == 77)
        #expect(try object(other)["database"] as? String == "other")
        #expect(try rekey("keyring", "status", path, "--key-file", bobKey).status == 77)
    }

    @Test func databaseMovesToKeyringThenPassphrase() throws {
        try make()
        let next = directory.file("next.keyring")
        let moved = try rekey(
            "change",
            path,
            "--keyring",
            keyring,
            "--key-file",
            adaKey,
            "--new-keyring",
            next,
            "--new-key-file",
            bobKey
        )
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(try rekey("verify", path, "--keyring", next, "--key-file", bobKey).status == 0)
        #expect(try !opens("--key-file", adaKey))
        #expect(
            try rekey("change", path, "--keyring", next, "--key-file", bobKey, "--new-passphrase-file", ada).status
                == 0
        )
        #expect(try rekey("verify", path, "--passphrase-file", ada).status == 0)
    }

    @Test func keyringIsBackedUpRestoredAndErased() throws {
        try make()
        let backup = directory.file("backup")
        #expect(try rekey("keyring", "backup", path, backup, "--key-file", adaKey).status == 0)
        #expect(try rekey("keyring", "erase", path).status == 64)
        #expect(FileManager.default.fileExists(atPath: keyring))
        #expect(try rekey("keyring", "erase", path, "--yes-destroy-the-data").status == 0)
        #expect(!FileManager.default.fileExists(atPath: keyring))
        #expect(try rekey("keyring", "list", path).status == 66)
        #expect(try rekey("keyring", "restore", path, backup, "--key-file", adaKey).status == 0)
        #expect(try opens("--key-file", adaKey))
        #expect(try rekey("keyring", "rotate", path, "--key-file", adaKey).status == 0)
        let stale = try rekey("keyring", "restore", path, backup, "--key-file", adaKey)
        #expect(stale.status == 77 && stale.errors.contains("older than the last rotation"), "\(stale.errors)")
        let again = try rekey("keyring", "backup", path, backup, "--key-file", adaKey)
        #expect(again.status == 73 && again.errors.contains("give the backup another name"), "\(again.errors)")
        #expect(try opens("--key-file", adaKey))
        // A restored keyring is newer than what the database has noted.
        let queue = {
            try DatabaseQueue(
                path: path,
                key: .keyring(Keyring(path: keyring), unlockedBy: .sample("Ada"))
            )
        }
        try rekeyBackup(backup + "2")
        for number in 0..<3 {
            let file = try directory.write(Array(repeating: UInt8(number), count: 32), to: "key \(number)")
            #expect(try rekey("keyring", "add", path, "--key-file", adaKey, "--new-key-file", file).status == 0)
        }
        try queue().close()
        #expect(try rekey("keyring", "erase", path, "--yes-destroy-the-data").status == 0)
        #expect(try rekey("keyring", "restore", path, backup + "2", "--key-file", adaKey).status == 0)
        try queue().close()
    }

    private func rekeyBackup(_ path: String) throws {
        #expect(try rekey("keyring", "backup", self.path, path, "--key-file", adaKey).status == 0)
    }

    @Test func oldDatabaseCopyIsAdoptedUntilForgotten() throws {
        try make()
        let old = directory.file("old.db")
        try FileManager.default.copyItem(atPath: path, toPath: old)
        #expect(try rekey("keyring", "rotate", path, "--key-file", adaKey).status == 0)
        let status = try rekey("keyring", "status", old, "--keyring", keyring, "--key-file", adaKey, "--json")
        #expect(status.status == 77)
        #expect(try object(status)["database"] as? String == "older")
        #expect(try rekey("keyring", "adopt", path, "--key-file", adaKey).output.contains("nothing to do"))
        let verified = try rekey("verify", old, "--keyring", keyring, "--key-file", adaKey)
        let day = Date().formatted(.iso8601.year().month().day())
        #expect(
            verified.status == 0
                && verified.output.contains("under a retired key of the keyring, replaced on \(day.prefix(7))")
        )
        let asJSON = try object(rekey("verify", old, "--keyring", keyring, "--key-file", adaKey, "--json"))
        #expect((asJSON["keyRetired"] as? String)?.hasPrefix(day.prefix(7)) == true && asJSON["ok"] as? Bool == true)
        let current = try object(rekey("verify", path, "--keyring", keyring, "--key-file", adaKey, "--json"))
        #expect(current["keyRetired"] == nil && current["ok"] as? Bool == true)
        let refused = try rekey("keyring", "rotate", old, "--keyring", keyring, "--key-file", adaKey)
        #expect(refused.status == 77 && refused.errors.contains("rekey keyring adopt"))
        let yes = "--yes-forget-backups"
        #expect(try rekey("keyring", "forget", old, yes, "--keyring", keyring, "--key-file", adaKey).status == 77)
        #expect(try rekey("keyring", "adopt", old, "--keyring", keyring, "--key-file", adaKey).status == 0)
        #expect(try rekey("verify", old, "--keyring", keyring, "--key-file", adaKey).status == 0)
        #expect(try rekey("keyring", "adopt", path, "--key-file", adaKey).status == 0)
        #expect(try rekey("keyring", "forget", path, yes, "--key-file", adaKey).status == 0)
        #expect(try rekey("keyring", "adopt", old, "--keyring", keyring, "--key-file", adaKey).status == 77)
        #expect(try opens("--key-file", adaKey))
    }

    @Test func adoptRepairsAlteredRecord() throws {
        try make()
        let unlocked = try Keyring(path: keyring).unlock(.sample("Ada"))
        try DatabaseQueue(path: path, key: unlocked).close()
        let other = Database(path: path, configuration: Configuration { $0.unsafeAllowsAllSQL = true })
        try other.open(key: unlocked.databaseKey())
        try other.executeStatements("UPDATE cipherdb_keyring SET generation = 'junk'")
        other.close()
        #expect(throws: KeyringError.self) { try DatabaseQueue(path: path, key: unlocked) }
        let adopted = try rekey("keyring", "adopt", path, "--key-file", adaKey)
        #expect(adopted.status == 0 && adopted.output.contains("rewritten"), "\(adopted.errors)")
        try DatabaseQueue(path: path, key: unlocked).close()
        #expect(try rekey("keyring", "adopt", path, "--key-file", adaKey).output.contains("nothing to do"))
    }

    @Test func failedRotationKeepsRetiredKeys() throws {
        try make()
        let queue = try DatabaseQueue(
            path: path,
            key: Keyring(path: keyring).unlock(.sample("Ada"))
        )
        let olderKeys = try Keyring(path: keyring).content().olderKeyCount
        let outcomes = try queue.inDatabase { database in
            try database.beginTransaction(.immediate)
            defer { try? database.rollback() }
            return try [[], ["--in-place"]].map {
                try Program.run(
                    Program.built("rekey"),
                    ["keyring", "rotate", path, "--key-file", adaKey] + $0
                )
            }
        }
        #expect(outcomes.map(\.status) == [75, 75])
        let content = try Keyring(path: keyring).content()
        #expect(!content.isRotationPending && content.olderKeyCount == olderKeys)
    }

    @Test func anotherSecretReplacesForgottenPassphrase() throws {
        try make(by: .passphrase)
        #expect(
            try rekey("keyring", "add", path, "--passphrase-file", ada, "--new-key-file", keyFile, "--label", "server")
                .status == 0
        )
        let change = ["keyring", "change", path, "--key-file", keyFile, "--new-passphrase-file", bob]
        let changed = try Program.run(Program.built("rekey"), change + ["--change-slot", "1", "--json"])
        #expect(try object(changed)["slot"] as? Int == 1)
        #expect(try opens("--passphrase-file", bob))
        #expect(try opens("--key-file", keyFile))
        #expect(try !opens("--passphrase-file", ada))
        let other = try directory.write("yet another".utf8, to: "other")
        let kind = try rekey("keyring", "change", path, "--key-file", keyFile, "--new-passphrase-file", other)
        #expect(kind.output.contains("slot 2 “server”, which was a key file and is a passphrase now"))
    }

    @Test func killedInitIsCompletedByNext() throws {
        try makeDatabase()
        // The keyring is made and the file under its key, but that is not written down.
        let unlocked = try Keyring(path: keyring).create(with: .sample("Ada"), for: path)
        try DatabaseFile(path: path).changeKey(from: .sample("Bob"), to: unlocked.databaseKey())
        #expect(try !unlocked.content().isInUse)
        let again = try rekey("keyring", "init", path, "--key-file", bobKey, "--new-key-file", adaKey)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try unlocked.content().isInUse)
        #expect(try opens("--key-file", adaKey))
    }

    @Test func readingCommandsDoNotWriteKeyring() throws {
        let weak = try PassphraseDerivation(unsafeWeak: .pbkdf2SHA512(iterations: 1000))
        try makeDatabase(by: .passphrase)
        let unlocked = try Keyring(path: keyring).create(
            with: .passphrase("Ada's passphrase"),
            derivation: weak,
            for: path
        )
        try DatabaseFile(path: path).moveToKeyring(unlocked, from: .passphrase("Bob's passphrase"))
        let before = try FileState(keyring)
        #expect(try opens("--passphrase-file", ada))
        #expect(try rekey("keyring", "status", path, "--passphrase-file", ada).status == 0)
        #expect(try rekey("keyring", "list", path).status == 0)
        #expect(try FileState(keyring) == before)
    }

    @Test func inspectReportsDamagedKeyring() throws {
        try make()
        _ = try directory.write("junk".utf8, to: "test.db.keyring")
        let found = try rekey("inspect", path)
        #expect(found.status == 0 && found.output.contains("not a keyring") && found.output.contains("encrypted"))
    }

    @Test func inspectReportsKeyAge() throws {
        try makeDatabase()
        // A keyring of the year 2020, by the reader and writer in Python.
        let script = """
            import sys
            sys.path.insert(0, sys.argv[1])
            import keyring as format
            day = 1577880000
            ring = format.Keyring(bytes(16), 0, day, day, b"0.1", [], [], [])
            wrapped = format.wrap(format.wrapping_key(bytes(32), ring.identifier), bytes(32))
            ring.records.append(format.KeyRecord(1, day, bytes(16), wrapped))
            slot = format.Slot(3, 1, day, day, b"", b"")
            format.lock_slot(ring.identifier, slot, bytes(32), 0, (0, 0, 0), bytes(16), bytes(32))
            ring.slots.append(slot)
            open(sys.argv[2], "wb").write(format.sealed(ring.body(), bytes(32), ring.identifier))
            """
        let made = try Program.run(
            "/usr/bin/env",
            ["python3", "-c", script, Program.packageDirectory + "/Tests/Readers", keyring]
        )
        #expect(made.status == 0, "\(made.errors)")
        let found = try rekey("inspect", path)
        #expect(found.output.contains("days old; run `rekey keyring rotate`"))
        #expect(found.output.contains("created 2020-01-01"))
        #expect(found.output.contains("by CipherDB 0.1"))
    }

    @Test func inspectReportsWeakKDFParameters() throws {
        try makeDatabase(by: .passphrase)
        let weak = try PassphraseDerivation(unsafeWeak: .pbkdf2SHA512(iterations: 1000))
        try Keyring(path: keyring).create(with: .passphrase("Ada's passphrase"), derivation: weak, for: path)
        let found = try object(rekey("inspect", path, "--json"))
        let advice = try #require(found["keyringAdvice"] as? [String])
        #expect(advice.contains { $0.contains("slot 1") && $0.contains("rekey keyring unlock") })
        #expect(advice.contains { $0.contains("rekey keyring recovery") })
        #expect((found["keyring"] as? [String: Any])?["version"] as? String == CipherDBVersion.current)
        #expect(try rekey("keyring", "unlock", path, "--passphrase-file", ada).status == 0)
        #expect(try !rekey("inspect", path).output.contains("slot 1 is"))
    }

    @Test func eachErrorHasExitStatusAndName() throws {
        try make()
        for (arguments, status, name) in [
            (["keyring", "unlock", path, "--key-file", bobKey], 77, "wrongSecret"),
            (["keyring", "unlock", path, "--key-file", adaKey, "--slot", "7"], 64, "noSuchSlot"),
            (["keyring", "list", ada, "--keyring", bob], 65, "notAKeyring"),
            (["keyring", "add", path, "--key-file", adaKey, "--new-key-file", adaKey], 64, "secretInUse"),
            (["keyring", "init", path, "--key-file", adaKey, "--new-key-file", adaKey], 73, "exists"),
            (["keyring", "init", "", "--new-key-file", adaKey], 64, nil),
            (["keyring", "init", path + "x", "--key-file", adaKey, "--new-key-file", adaKey], 66, "missing"),
            (["keyring", "erase", path, "--yes-destroy-the-data", "--key-file", bobKey], 77, "wrongSecret"),
            (["keyring", "forget", path, "--key-file", adaKey], 64, nil),
            (["keyring", "backup", path, bob, "--key-file", adaKey], 73, "exists"),
            (["keyring", "list", directory.file("nothing")], 66, "missing"),
            (["verify", path, "--recovery", "--passphrase-file", ada], 64, "usage"),
        ] as [([String], Int, String?)] {
            let outcome = try Program.run(Program.built("rekey"), arguments + ["--json"])
            #expect(outcome.status == Int32(status), "\(arguments)")
            if let name { #expect(try object(outcome)["error"] as? String == name) }
        }
        let hinted = try rekey("verify", path, "--key-file", bobKey)
        #expect(hinted.status == 77 && hinted.errors.contains("--keyring \(keyring)"))
    }
}
