import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// A keyring that stays beside a database which is no longer under it.
@Suite(.once)
struct OtherDatabaseKeyringTests {
    let directory: TemporaryDirectory
    let path: String
    let adaKey: String
    let bobKey: String
    let nextKey: String
    var keyring: String { path + ".keyring" }

    /// A database that was moved from the keyring beside it to `next.keyring`.
    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        adaKey = try directory.write(DatabaseKey.sampleBytes("Ada"), to: "ada.key")
        bobKey = try directory.write(DatabaseKey.sampleBytes("Bob"), to: "bob.key")
        nextKey = try directory.write(DatabaseKey.sampleBytes("next"), to: "next.key")
        let queue = try DatabaseQueue(path: path, key: .sample("Bob"))
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try queue.close()
        #expect(try rekey("keyring", "init", path, "--key-file", bobKey, "--new-key-file", adaKey).status == 0)
    }

    private func rekey(_ arguments: String...) throws -> Program.Outcome {
        try Program.run(Program.built("rekey"), arguments)
    }

    private func move() throws {
        let moved = try rekey(
            "change",
            path,
            "--keyring",
            keyring,
            "--key-file",
            adaKey,
            "--new-keyring",
            directory.file("next.keyring"),
            "--new-key-file",
            nextKey
        )
        #expect(moved.status == 0 && moved.output.contains("no longer opens the database"), "\(moved.errors)")
    }

    @Test(arguments: [
        ["add", "--new-key-file", "bob.key"], ["change", "--new-key-file", "bob.key", "--label", "Bob"],
        ["change", "--change-slot", "1", "--new-key-file", "bob.key"], ["remove", "1", "--force"], ["recovery"],
    ])
    func slotsOfOtherKeyringStay(_ command: [String]) throws {
        try move()
        let before = try FileState(keyring)
        let words = command.dropFirst().map { $0.hasSuffix(".key") ? directory.file($0) : $0 }
        let outcome = try Program.run(
            Program.built("rekey"),
            ["keyring", command[0], path] + words + ["--key-file", adaKey]
        )
        #expect(outcome.status == 77 && outcome.output.isEmpty, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.errors.contains("rekey keyring restore"), "\(outcome.errors)")
        #expect(try FileState(keyring) == before)
    }

    @Test func backupOfOtherKeyringIsNoted() throws {
        try move()
        let outcome = try rekey("keyring", "backup", path, directory.file("copy"), "--key-file", adaKey)
        #expect(outcome.status == 0 && outcome.output.contains("is not under this keyring"))
    }

    @Test func slotsChangeForRetiredKeyAndDamage() throws {
        let old = directory.file("old.db")
        try FileManager.default.copyItem(atPath: path, toPath: old)
        #expect(try rekey("keyring", "rotate", path, "--key-file", adaKey).status == 0)
        let add = try rekey("keyring", "add", old, "--keyring", keyring, "--key-file", adaKey, "--new-key-file", bobKey)
        #expect(add.status == 0, "\(add.errors)")
        try flipByte(of: path, at: 100)
        #expect(try rekey("keyring", "remove", path, "2", "--key-file", adaKey).status == 0)
        try FileManager.default.removeItem(atPath: path)
        #expect(try rekey("keyring", "add", path, "--key-file", adaKey, "--new-key-file", bobKey).status == 0)
    }

    @Test func lockedDatabaseIsNoted() throws {
        let queue = try DatabaseQueue(path: path, key: .keyring(Keyring(path: keyring), unlockedBy: .sample("Ada")))
        let outcome = try queue.inDatabase { database in
            try database.executeStatements("BEGIN EXCLUSIVE")
            defer { try? database.rollback() }
            return try rekey("keyring", "add", path, "--key-file", adaKey, "--new-key-file", bobKey)
        }
        #expect(outcome.status == 0 && outcome.output.contains("was not checked"), "\(outcome.errors)")
    }

    @Test func errorNamesCommandsOfRekey() throws {
        try move()
        for command in ["rotate", "adopt"] {
            let outcome = try rekey("keyring", command, path, "--key-file", adaKey)
            #expect(outcome.status == 77 && outcome.errors.contains("rekey keyring restore"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("moveToKeyring"))
        }
        let hinted = try rekey("verify", path, "--key-file", adaKey)
        #expect(hinted.errors.contains("if the database is under its key, give --keyring"))
        let unused = directory.file("unused.keyring")
        try Keyring(path: unused).create(with: .sample("Ada"))
        let fresh = try rekey(
            "keyring",
            "add",
            path,
            "--keyring",
            unused,
            "--key-file",
            adaKey,
            "--new-key-file",
            bobKey
        )
        #expect(fresh.status == 77 && fresh.errors.contains("rekey keyring restore"), "\(fresh.errors)")
    }

    @Test func changeGivesSlotNewLabel() throws {
        let changed = try rekey(
            "keyring",
            "change",
            path,
            "--key-file",
            adaKey,
            "--new-key-file",
            bobKey,
            "--label",
            "Bob"
        )
        #expect(changed.status == 0 && changed.output.contains("slot 1 “Bob”"), "\(changed.errors)")
        #expect(try rekey("keyring", "change", path, "--key-file", bobKey, "--new-key-file", adaKey).status == 0)
        #expect(try Keyring(path: keyring).content().slots.map(\.label) == ["Bob"])
        let refused = try rekey(
            "keyring",
            "change",
            path,
            "--key-file",
            adaKey,
            "--new-key-file",
            bobKey,
            "--label",
            String(repeating: "x", count: 200)
        )
        #expect(refused.status == 64 && refused.errors.contains("a label has at most"))
    }
}
