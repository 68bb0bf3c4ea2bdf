import CipherDB
import Foundation
import TestSupport
import Testing

/// What `rekey` advises, and does, where a database and its keyring do not fit, and after other mistakes with keys.
@Suite(.atTheEnds) struct LostKeyringTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let keyring: Keyring

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        keyring = Keyring(besideDatabase: path)
        for name in ["ada", "bob"] { _ = try directory.write(DatabaseKey.sampleBytes(name), to: name) }
        try SampleFile.make(at: path, under: keyring, .sample("ada"))
        try keyring.unlock(.sample("ada")).backUp(to: directory.file("backup"))
    }

    private func rekey(_ command: String, input: String = "") throws -> Program.Outcome {
        try Program.rekey(command, in: directory, input: input)
    }

    private static let reading = "--keyring test.db.keyring --key-file ada"

    private func restore() throws {
        let restored = try rekey("keyring restore test.db backup --key-file ada")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try rekey("verify test.db \(Self.reading)").status == 0)
    }

    @Test func lostKeyringIsRestored() throws {
        try FileManager.default.removeItem(atPath: keyring.path)
        let before = try FileState(path)
        let status = try rekey("status test.db \(Self.reading)")
        #expect(status.status == 66 && status.output.contains("rekey keyring restore"), "\(status.output)")
        let initial = try rekey("keyring init test.db --key-file ada --new-key-file bob")
        #expect(initial.status == 77 && initial.errors.contains("rekey keyring restore"), "\(initial.errors)")
        #expect(try FileState(path) == before && directory.names == ["ada", "backup", "bob", "test.db"])
        try restore()
        let again = try rekey("keyring init test.db --key-file ada --new-key-file bob")
        #expect(again.status == 73 && again.errors.contains("rekey keyring restore"), "\(again.errors)")
    }

    @Test(arguments: [false, true]) func keyringOfOtherDatabaseIsReplaced(_ isInUse: Bool) throws {
        try FileManager.default.removeItem(atPath: keyring.path)
        try keyring.create(with: .sample("ada"), for: directory.file("test.db"))
        if isInUse {
            try DatabaseQueue(path: directory.file("other.db"), key: .keyring(keyring, unlockedBy: .sample("ada")))
                .close()
        }
        let status = try rekey("status test.db \(Self.reading)")
        #expect(status.status == 77 && status.output.contains("rekey keyring restore"), "\(status.output)")
        #expect(!status.output.contains("--new-keyring"))
        let restored = try rekey("keyring restore test.db backup --key-file ada")
        #expect(restored.status == 0 && restored.output.contains("test.db.keyring.replaced-1"), "\(restored)")
        #expect(try rekey("verify test.db \(Self.reading)").status == 0)
        guard isInUse else { return }
        #expect(try rekey("verify other.db --keyring test.db.keyring.replaced-1 --key-file ada").status == 0)
    }

    /// Both open the database.
    @Test func oldCopyOfKeyringIsNamed() throws {
        #expect(try rekey("keyring add test.db --key-file ada --new-key-file bob").status == 0)
        try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: .sample("ada"))).close()
        let note = "the keyring is an old copy: the database was used with a newer one"
        #expect(try !rekey("verify test.db \(Self.reading)").output.contains(note))
        try FileManager.default.removeItem(atPath: keyring.path)
        try FileManager.default.moveItem(atPath: directory.file("backup"), toPath: keyring.path)
        let found = try rekey("verify test.db \(Self.reading)")
        #expect(found.status == 0 && found.output.contains(note), "\(found)")
        #expect(try rekey("verify test.db \(Self.reading) --json").output.contains(#""isKeyringOld":true"#))
    }

    @Test func overwrittenFirstPageIsNamed() throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) }))
        try file.close()
        let found = try rekey("verify test.db \(Self.reading)")
        #expect(found.status == 77 && found.errors.contains("its first page was overwritten"), "\(found)")
    }

    @Test func recoveryCodeGivenAsPassphraseIsTold() throws {
        let code = try RecoveryCode.random()
        try keyring.unlock(.sample("ada")).add(code, typedBack: RecoveryCode(typed: code.text()))
        _ = try directory.write(code.text().withUnsafeBytes { Array($0) }, to: "code")
        let wrong = try rekey("verify test.db --keyring test.db.keyring --passphrase-file code")
        #expect(wrong.status == 77 && wrong.errors.contains("a recovery code, which needs --recovery"), "\(wrong)")
        #expect(try rekey("verify test.db --keyring test.db.keyring --passphrase-file code --recovery").status == 0)
    }

    @Test func removalOfNotesIsTold() throws {
        #expect(try rekey("backup test.db repository \(Self.reading)").status == 0)
        let removed = try rekey("keyring remove test.db 2 --key-file ada")
        #expect(
            removed.status == 0 && removed.output.contains("an old copy of a repository is not noticed"),
            "\(removed)"
        )
    }

    @Test func missingKeyringOfPlaintextNeedsInit() throws {
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements("CREATE TABLE t (a)")
        plain.close()
        let outcome = try rekey("keyring list plain.db")
        #expect(outcome.status == 66 && outcome.errors.contains("rekey keyring init"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("rekey keyring restore"))
    }

    @Test func passphraseThatReadsAsRawKeyIsTold() throws {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let raw = try DatabaseKey.raw(hex: digits)
        try SampleFile.make(at: directory.file("raw.db"), under: raw)
        _ = try directory.write(digits.utf8, to: "digits")
        let outcome = try rekey("verify raw.db --passphrase-file digits")
        #expect(outcome.status == 77 && outcome.errors.contains("--key-file"), "\(outcome.errors)")
        #expect(!outcome.errors.contains(digits))
        #expect(try rekey("verify raw.db --key-file digits").status == 0)
        _ = try directory.write("not a key".utf8, to: "words")
        #expect(try !rekey("verify raw.db --passphrase-file words").errors.contains("--key-file"))
    }

    @Test func slotOfOtherKindIsMeantToBeChanged() throws {
        let unlocked = try keyring.unlock(.sample("ada"))
        let code = try RecoveryCode.random()
        try unlocked.add(code, typedBack: RecoveryCode(typed: code.text()))
        try code.text().withUnsafeBytes { _ = try directory.write($0, to: "code") }
        let before = try FileState(keyring.path)
        let command = "keyring change test.db --recovery --passphrase-file code --new-key-file bob"
        let outcome = try rekey("\(command) --slot 1")
        #expect(outcome.status == 64 && outcome.errors.contains("--change-slot 1"), "\(outcome.errors)")
        #expect(try FileState(keyring.path) == before)
        #expect(try rekey("\(command) --change-slot 1 --slot 2").status == 0)
        #expect(try rekey("verify test.db --keyring test.db.keyring --key-file bob").status == 0)
    }

    @Test(arguments: [
        "inspect", "status", "status --key-file ada", "verify --key-file ada", "encrypt --key-file ada",
        "decrypt --yes-write-plaintext --key-file ada", "change --key-file ada --new-key-file bob",
        "migrate --key-file ada",
        "keyring init --new-key-file ada", "keyring rotate --keyring test.db.keyring --key-file ada",
    ])
    func fileWithoutBytesIsEmpty(_ command: String) throws {
        _ = try directory.write([], to: "none.db")
        var words = command.split(separator: " ").map(String.init)
        words.insert("none.db", at: words[0] == "keyring" ? 2 : 1)
        let outcome = try rekey(words.joined(separator: " "))
        #expect("\(outcome.output)\(outcome.errors)".contains("empty"), "\(outcome.output)\(outcome.errors)")
        #expect(try FileState(directory.file("none.db")).bytes.isEmpty)
    }

    @Test func oldFormatIsNotWrittenInSilence() throws {
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements("CREATE TABLE t (a)")
        plain.close()
        let isOld = Engine.current.formats.first?.version != CipherFormat.v4.version
        let encrypted = try rekey("encrypt plain.db --key-file ada")
        #expect(
            encrypted.status == 0 && encrypted.errors.contains("written in format 3") == isOld,
            "\(encrypted.errors)"
        )
        // A change of key keeps the format.
        #expect(try rekey("change plain.db --key-file ada --new-key-file bob").errors.isEmpty)
    }
}
