import CipherDB
import Foundation
import TestSupport
import Testing

/// A change of secret that names the same one twice.
@Suite(.once) struct SameSecretTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        for name in ["p1", "p2"] { _ = try directory.write("the passphrase \(name)\n".utf8, to: name) }
    }

    private func make() throws {
        let queue = try DatabaseQueue(path: path, key: .passphrase("the passphrase p1"))
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    @Test(arguments: ["", "--dry-run", "--in-place"])
    func samePassphraseIsRefused(option: String) throws {
        try make()
        let state = try FileState(path)
        let command = "change test.db --passphrase-file p1 --new-passphrase-file p1 \(option)"
        let outcome = try Program.rekey(command, in: directory)
        #expect(outcome.status == 64 && outcome.errors.contains("the new key is the same as the old one"))
        #expect(try FileState(path) == state)
        // Whether the old one is right comes first.
        let wrong = try Program.rekey(
            "change test.db --passphrase-file p2 --new-passphrase-file p2 \(option)",
            in: directory
        )
        #expect(wrong.status == 77, "\(wrong.errors)")
    }

    @Test func samePassphraseAtPromptIsRefused() throws {
        try make()
        let typed = Array(repeating: "the passphrase p1", count: 3)
        let outcome = try Program.atTerminal(Program.built("rekey"), ["change", path], answers: typed)
        #expect(outcome.status == 64 && outcome.shown.contains("the same as the old one"), "\(outcome.shown)")
    }

    @Test func sameSecretOfSlotIsRefused() throws {
        #expect(try Program.rekey("keyring init test.db --new-passphrase-file p1", in: directory).status == 0)
        #expect(
            try Program.rekey("keyring add test.db --passphrase-file p1 --new-passphrase-file p2", in: directory)
                .status == 0
        )
        let change = "keyring change test.db --passphrase-file p1 --new-passphrase-file"
        for arguments in ["\(change) p1", "\(change) p2 --change-slot 2"] {
            let outcome = try Program.rekey(arguments, in: directory)
            #expect(outcome.status == 64, "\(arguments)")
            #expect(outcome.errors.contains("already opens with this secret; nothing was changed"))
        }
        // What else is to change.
        for option in ["--label Ada", "--kdf pbkdf2-sha256"] {
            #expect(try Program.rekey("\(change) p1 \(option)", in: directory).status == 0, "\(option)")
        }
    }
}
