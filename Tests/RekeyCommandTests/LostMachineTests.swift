import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// A repository is all that is left, and one secret of the keyring.
@Suite(.once)
struct LostMachineTests {
    let directory: TemporaryDirectory
    private static let keys = "--keyring a.db.keyring --key-file ada"

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["own", "ada", "bob"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
        try SampleFile.make(at: directory.file("a.db"), under: .sample("own"))
        try succeed("keyring init a.db --key-file own --new-key-file ada")
        try succeed("backup a.db repository \(Self.keys)")
    }

    private func rekey(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory)
    }

    @discardableResult
    private func succeed(_ arguments: String) throws -> String {
        let outcome = try rekey(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)\(outcome.output)")
        return outcome.output
    }

    private func loseMachine() throws {
        for name in directory.names where name.hasPrefix("a.db") {
            try FileManager.default.removeItem(atPath: directory.file(name))
        }
    }

    private func note(_ number: Int) throws {
        let queue = try DatabaseQueue(
            path: directory.file("a.db"),
            key: .keyring(
                Keyring(path: directory.file("a.db.keyring")),
                unlockedBy: .keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("ada")))
            )
        )
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = 1") }
        try queue.close()
    }

    private var keyrings: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.file("repository/keyrings"))) ?? []).sorted()
    }

    /// What the program finds, which has nothing but the restored file, its keyring and the secret.
    private func answer(_ secret: KeyringSecret) throws -> String? {
        let queue = try DatabaseQueue(
            path: directory.file("new.db"),
            key: .keyring(Keyring(path: directory.file("new.db.keyring")), unlockedBy: secret)
        )
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.string(forQuery: "SELECT note FROM people WHERE id = 1") }
    }

    private func removeRestored() throws {
        for name in directory.names where name.hasPrefix("new.db") {
            try FileManager.default.removeItem(atPath: directory.file(name))
        }
    }

    @Test func everyGenerationOfTwentyRotationsOpens() throws {
        _ = try directory.write("correct horse battery staple".utf8, to: "phrase")
        try succeed("keyring add a.db --key-file ada --new-passphrase-file phrase")
        for number in 2...21 {
            try succeed("keyring rotate a.db --key-file ada")
            try note(number)
            try succeed("backup a.db repository \(Self.keys)")
        }
        #expect(keyrings.count == 1)
        let check = try succeed("backups check repository \(Self.keys)")
        #expect(check.contains("keyring:     stored: one of its secrets opens each of them"), "\(check)")
        try loseMachine()
        let secret = try KeyringSecret.keyFile(SecretBytes(copying: DatabaseKey.sampleBytes("ada")))
        for number in 1...21 {
            let done = try succeed(
                "restore repository new.db --generation \(number) --keyring new.db.keyring --key-file ada"
            )
            #expect(done.contains("proved:          yes") && done.contains("keyring:         new.db.keyring, restored"))
            if number > 1 { #expect(try answer(secret) == "\(number)") }
            try succeed("verify new.db --keyring new.db.keyring --key-file ada")
            try removeRestored()
        }
        try succeed("restore repository new.db --keyring new.db.keyring --passphrase-file phrase")
        #expect(try answer(.passphrase("correct horse battery staple")) == "21")
    }

    @Test func restoreWithoutKeyBringsKeyring() throws {
        try loseMachine()
        let done = try succeed("restore repository new.db")
        #expect(done.contains("keyring:    new.db.keyring, restored too"), "\(done)")
        #expect(done.contains("proved:     no: without the key"))
        try succeed("verify new.db --keyring new.db.keyring --key-file ada")
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("new.db.keyring"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test func presentKeyringIsNotTouched() throws {
        let before = FileManager.default.contents(atPath: directory.file("a.db.keyring"))
        try FileManager.default.removeItem(atPath: directory.file("a.db"))
        #expect(try succeed("restore repository a.db").contains("opens with: a.db.keyring, if that is its keyring"))
        #expect(FileManager.default.contents(atPath: directory.file("a.db.keyring")) == before)
    }

    @Test func backupNamesKeyringThatIsNotStored() throws {
        let said = try succeed("backup a.db other")
        #expect(said.contains("a.db.keyring is not stored: give it by --keyring"), "\(said)")
    }

    @Test func restoreSaysThatNoKeyringIsStored() throws {
        try SampleFile.make(at: directory.file("b.db"), under: .sample("own"))
        #expect(try succeed("backup b.db other --key-file own").contains("opens with: the key that the database has"))
        #expect(try succeed("restore other new.db").contains("opens with: the key that it had then: none is stored"))
        try removeRestored()
        let refused = try rekey("restore other new.db --keyring new.db.keyring --key-file ada")
        #expect(
            refused.status == 66 && refused.errors.contains("no keyring that is stored has the key of generation 1")
        )
        #expect(!directory.names.contains { $0.hasPrefix("new.db") })
    }

    @Test func wrongSecretLeavesNothing() throws {
        try loseMachine()
        let refused = try rekey("restore repository new.db --keyring new.db.keyring --key-file bob")
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(!directory.names.contains { $0.hasPrefix("new.db") })
    }

    @Test(arguments: ["restore repository new.db --keyring new.db.keyring", "keyring restore a.db repository"])
    func signalAtPromptLeavesNothing(_ arguments: String) throws {
        if arguments.hasPrefix("keyring") { try FileManager.default.removeItem(atPath: directory.file("a.db.keyring")) }
        let names = directory.names
        let inside = arguments.split(separator: " ").map(String.init).map {
            $0.contains(".") || $0 == "repository" ? directory.file($0) : $0
        }
        let lines = try Program.signalledAtPrompt(Program.built("rekey"), inside, signals: ["INT", "TERM"])
        #expect(lines.count == 2 && directory.names == names, "\(lines) \(directory.names)")
    }

    @Test func changedSecretReplacesStoredKeyring() throws {
        let before = keyrings
        try succeed("keyring change a.db --key-file ada --new-key-file bob")
        let done = try succeed("backup a.db repository --keyring a.db.keyring --key-file bob")
        #expect(done.contains("nothing has changed since"))
        #expect(keyrings.count == 1 && keyrings != before)
        try loseMachine()
        #expect(try rekey("restore repository new.db --keyring new.db.keyring --key-file ada").status == 77)
        try succeed("restore repository new.db --keyring new.db.keyring --key-file bob")
    }

    @Test func forgottenKeysStayInRepository() throws {
        try succeed("keyring rotate a.db --key-file ada")
        try note(2)
        try succeed("backup a.db repository \(Self.keys)")
        try succeed("keyring forget a.db --yes-forget-backups --key-file ada")
        try succeed("backup a.db repository \(Self.keys)")
        #expect(keyrings.count == 2)
        let check = try rekey("backups check repository \(Self.keys)")
        #expect(check.output.contains("needed: the keyring that is stored with them"), "\(check.output)")
        try succeed("restore repository new.db --generation 1 --keyring new.db.keyring --key-file ada")
        try removeRestored()
        // Under the secrets of today only.
        try succeed("keyring change a.db --key-file ada --new-key-file bob")
        try succeed("backup a.db repository --keyring a.db.keyring --key-file bob")
        #expect(keyrings.count == 2)
        for number in 1...2 {
            let restore = "restore repository new.db --generation \(number) --keyring new.db.keyring"
            #expect(try rekey("\(restore) --key-file ada").status == 77)
            try succeed("\(restore) --key-file bob")
            try removeRestored()
        }
    }

    @Test func backupGoesOnAfterKeysWereForgotten() throws {
        try succeed("keyring rotate a.db --key-file ada")
        try succeed("keyring forget a.db --yes-forget-backups --key-file ada")
        let done = try succeed("backup a.db repository \(Self.keys)")
        #expect(done.contains("generation: 2 of "), "\(done)")
        try loseMachine()
        try succeed("restore repository new.db --keyring new.db.keyring --key-file ada")
    }

    @Test func oldCopyOfKeyringIsNotStored() throws {
        let copy = directory.file("copy")
        try FileManager.default.copyItem(atPath: directory.file("a.db.keyring"), toPath: copy)
        try succeed("keyring change a.db --key-file ada --new-key-file bob")
        try succeed("backup a.db repository --keyring a.db.keyring --key-file bob")
        try FileManager.default.removeItem(atPath: directory.file("a.db.keyring"))
        try FileManager.default.moveItem(atPath: copy, toPath: directory.file("a.db.keyring"))
        let before = keyrings
        let done = try rekey("backup a.db repository \(Self.keys)")
        #expect(done.status == 0 && done.errors.contains("the keyring is an old copy: the repository has"), "\(done)")
        #expect(keyrings == before)
    }

    @Test func restoreOverFileLeavesNoKeyring() throws {
        let keyring = directory.file("a.db.keyring")
        try FileManager.default.removeItem(atPath: keyring)
        for arguments in ["a.db --keyring a.db.keyring --key-file ada", "a.db"] {
            let refused = try rekey("restore repository \(arguments)")
            #expect(refused.status == 73 && refused.errors.contains("a.db: exists already"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: keyring))
        }
    }

    @Test func failedRestoreRemovesNoKeyringOfAnother() throws {
        _ = try directory.write("correct horse battery staple".utf8, to: "phrase")
        try succeed("keyring add a.db --key-file ada --new-passphrase-file phrase")
        try succeed("backup a.db repository \(Self.keys)")
        try loseMachine()
        // Another run makes the file meanwhile, and needs the keyring of this one.
        let script = "#!/bin/sh\ntouch '\(directory.file("a.db"))'\ncat '\(directory.file("phrase"))'\n"
        let command = try directory.write(script.utf8, to: "secret", mode: 0o700)
        let refused = try rekey("restore repository a.db --keyring a.db.keyring --passphrase-command \(command)")
        #expect(refused.status == 73, "\(refused.errors)")
        #expect(FileManager.default.fileExists(atPath: directory.file("a.db.keyring")))
    }

    @Test func alteredKeyringIsNoticed() throws {
        let name = try #require(keyrings.first)
        let place = directory.file("repository/keyrings/\(name)")
        let whole = try #require(FileManager.default.contents(atPath: place))
        var altered = whole
        altered[altered.count - 40] ^= 1
        try altered.write(to: URL(fileURLWithPath: place))
        let check = try rekey("backups check repository")
        #expect(check.status == 65 && check.output.contains("keyrings/\(name): damaged"), "\(check.output)")
        let refused = try rekey("restore repository new.db --keyring new.db.keyring --key-file ada")
        #expect(refused.status == 66 && !directory.names.contains("new.db.keyring"))
        // The next backup stores it again; the operator moves the damaged one away.
        try succeed("backup a.db repository \(Self.keys)")
        try FileManager.default.removeItem(atPath: place)
        try succeed("backups check repository \(Self.keys)")
    }

    /// An older generation has an older key, which does not open the database.
    @Test func keyringIsRestoredWhereManifestIsDamaged() throws {
        try succeed("keyring rotate a.db --key-file ada")
        try succeed("keyring forget a.db --yes-forget-backups --key-file ada")
        try note(2)
        try succeed("backup a.db repository \(Self.keys)")
        #expect(keyrings.count == 2)
        let place = directory.file("repository/generations/")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: place).max())
        try flipByte(of: place + name, at: 40)
        try FileManager.default.removeItem(atPath: directory.file("a.db.keyring"))
        #expect(try rekey("keyring restore a.db repository --key-file bob").status == 77)
        let done = try succeed("keyring restore a.db repository --key-file ada")
        #expect(done.contains("\(name): damaged") && done.contains("the newest that is stored"), "\(done)")
        try succeed("verify a.db \(Self.keys)")
        for stored in keyrings { try flipByte(of: directory.file("repository/keyrings/" + stored), at: 40) }
        let none = try rekey("keyring restore a.db repository --key-file ada")
        #expect(none.status == 66 && none.errors.contains("no keyring is stored that can be read"), "\(none)")
    }

    /// Not that a keyring is to be restored.
    @Test func repositoryThatIsGoneIsNamed() throws {
        try FileManager.default.removeItem(atPath: directory.file("a.db.keyring"))
        let refused = try rekey("keyring restore a.db nothing --key-file ada")
        #expect(refused.status == 66 && refused.errors == "rekey: a.db: nothing: no such file\n", "\(refused)")
    }

    @Test func keyringOfSomebodyElseIsNoticed() throws {
        try SampleFile.make(at: directory.file("b.db"), under: .sample("bob"))
        try succeed("keyring init b.db --key-file bob --new-key-file bob")
        try succeed("backup b.db repository --at-least 0 --keyring b.db.keyring --key-file bob")
        try succeed("backup a.db repository --at-least 0 \(Self.keys)")
        #expect(keyrings.count == 2)
        for (number, secret) in [(1, "ada"), (2, "bob"), (3, "ada")] {
            try succeed(
                "restore repository new.db --generation \(number) --keyring new.db.keyring --key-file \(secret)"
            )
            try removeRestored()
        }
    }
}
