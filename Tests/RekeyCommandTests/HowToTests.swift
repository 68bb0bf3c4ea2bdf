import CipherDB
import Foundation
import TestSupport
import Testing

/// The commands of the how-to guides, run as they stand.
@Suite(.atTheEnds)
struct HowToTests {
    let directory: TemporaryDirectory

    /// A plaintext `notes.db`, `vault.db` under `vault.key`, the same with a damaged page, and passphrases.
    init() throws {
        directory = try TemporaryDirectory()
        let plain = Database(
            path: directory.file("notes.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements("CREATE TABLE notes (text); INSERT INTO notes VALUES ('buy stamps')")
        plain.close()
        _ = try directory.write(DatabaseKey.sampleBytes("vault"), to: "vault.key")
        let vault = try DatabaseQueue(path: directory.file("vault.db"), key: .sample("vault"))
        try vault.inTransaction { database in
            try database.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
            for _ in 0..<300 { try database.executeUpdate("INSERT INTO notes (text) VALUES (hex(randomblob(100)))") }
        }
        try vault.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file("vault.db")))
        bytes[bytes.count - 5_000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: directory.file("damaged.db")))
        try makeOtherFormats()
        for name in ["ada", "bob", "bob2"] {
            _ = try directory.write("the passphrase of \(name)\n".utf8, to: "\(name).txt")
        }
    }

    /// Files for the guide about other formats, by a stock shell.
    private func makeOtherFormats() throws {
        guard HowToTests.hasPlaintextHeaders, let shell = StockShell.ofThisFormat else { return }
        let passphrase = "key = 'the passphrase'"
        _ = try directory.write("the passphrase\n".utf8, to: "passphrase")
        _ = try directory.write(DatabaseKey.sampleBytes("raw"), to: "key")
        let digits = DatabaseKey.sampleBytes("raw").map { String(format: "%02x", $0) }.joined()
        let salt = "cipher_salt = \"x'00112233445566778899aabbccddeeff'\""
        for (name, key, settings) in [
            ("old", passphrase, ["cipher_compatibility = 3", "cipher_hmac_pgno = be"]),
            ("unauthenticated", "key = \"x'\(digits)'\"", ["cipher_use_hmac = OFF"]),
            ("shared", passphrase, ["cipher_plaintext_header_size = 32", salt]),
        ] {
            let content = "CREATE TABLE notes (text); INSERT INTO notes VALUES ('buy stamps');"
            try shell.run(directory.file("\(name).db"), key: key, settings: settings, content)
        }
        try FileManager.default.copyItem(atPath: directory.file("notes.db"), toPath: directory.file("app.db"))
    }

    private static let hasPlaintextHeaders = Engine.current.formats.first == .v4

    /// The blocks of commands of a guide, as one script.
    private func script(_ guide: String) throws -> String {
        let text = try String(
            contentsOfFile: "\(Program.packageDirectory)/Documentation/HowTo/\(guide).md",
            encoding: .utf8
        )
        return Program.script(ofGuide: text)
    }

    private func run(_ script: String) throws -> Program.Outcome { try Program.commands(script, in: directory) }

    private static let guides =
        [
            "Install", "EncryptAFile", "ShareADatabase", "RotateKeys", "RotateAService", "RecoverAFile", "BackUp",
            "Containers", "KeyServices", "Monitor",
        ]
        + (hasPlaintextHeaders ? ["OtherFormats"] : [])

    @Test(arguments: guides)
    func commandsOfGuideRun(_ guide: String) throws {
        let commands = try script(guide)
        #expect(commands.contains("rekey "))
        // The page begins where another one ends.
        let before =
            guide.hasPrefix("Rotate")
            ? "rekey keyring init vault.db --key-file vault.key --new-passphrase-file ada.txt\n" : ""
        let outcome = try run(before + commands)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test func everyGuideIsRun() throws {
        let guides = try FileManager.default.contentsOfDirectory(
            atPath: "\(Program.packageDirectory)/Documentation/HowTo"
        )
        // KeyCustody.md needs hardware and services: Scripts/custody.sh runs it; DisasterTests plays Disaster.md.
        #expect(guides.count == 13)
    }

    @Test func commandsOfReadmeExist() throws {
        let readme = try String(contentsOfFile: "\(Program.packageDirectory)/README.md", encoding: .utf8)
        let commands = readme.matches(of: /(?m)^rekey ([a-z]+)/).map { String($0.output.1) }
        #expect(commands.count >= 5)
        for command in commands where command != "help" { #expect(try run("rekey help \(command)").status == 0) }
    }
}
