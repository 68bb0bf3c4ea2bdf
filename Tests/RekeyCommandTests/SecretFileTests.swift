import CipherDB
import Foundation
import TestSupport
import Testing

/// Files with secrets, as shells and other programs make them.
@Suite(.once) struct SecretFileTests {
    let directory: TemporaryDirectory
    private static let digits = String(repeating: "0123456789abcdef", count: 4)

    init() throws {
        directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("test.db"), key: .raw(hex: Self.digits))
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        _ = try directory.write(Self.digits.utf8, to: "key")
    }

    private func bash(_ line: String) throws -> Program.Outcome {
        let script = "cd '\(directory.path)'; R='\(Program.built("rekey"))'; \(line)"
        return try Program.run("/usr/bin/env", ["bash", "-c", script])
    }

    @Test(arguments: [
        "$R verify test.db --key-file - < key", "cat key | $R verify test.db --key-file -",
        "cat key | $R verify test.db --key-file /dev/stdin", "$R verify test.db --key-file /dev/stdin < key",
        "$R verify test.db --key-file <(cat key)", "$R verify test.db --key-file /dev/fd/7 7< key",
        "mkfifo -m 600 pipe; (sleep 0.3; cat key > pipe) & $R verify test.db --key-file pipe",
        "$R change test.db --key-file <(cat key) --new-key-file - < key; [ $? = 64 ]",
    ])
    func pipeGivesSecret(_ line: String) throws {
        let outcome = try bash(line)
        #expect(outcome.status == 0, "\(line): \(outcome.errors)")
    }

    @Test func passphraseComesFromPipe() throws {
        let outcome = try bash(
            """
            $R copy test.db copy.db --key-file key --new-passphrase-file <(echo secret) &&
                echo secret | $R verify copy.db --passphrase-file -
            """
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// As a program sets a key by its bytes; only text has lines.
    @Test(.enabled(if: StockShell.isAvailable, "no stock shells"))
    func passphraseWithNULsIsTakenByteForByte() throws {
        let outcome = try bash(
            #"""
            umask 077; printf 'se\0cret\nsecond\n' > nul; printf 'se' > text; printf 'se\0cret\nsecond' > bare
            $R copy test.db copy.db --key-file key --new-passphrase-file nul && $R verify copy.db --passphrase-file bare &&
                { $R verify copy.db --passphrase-file text; [ $? = 77 ]; } && od -An -v -tx1 bare | tr -d ' \n' > hex
            """#
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let digits = try String(contentsOfFile: directory.file("hex"), encoding: .utf8)
        let shell = try #require(StockShell.ofThisFormat)
        let read = try shell.run(directory.file("copy.db"), key: "hexkey = '\(digits)'", SampleFile.query)
        #expect(read == [SampleFile.answer])
    }

    @Test(arguments: [
        "change test.db --key-file - --new-key-file -", "change test.db --key-file /dev/stdin --new-passphrase-file -",
        "copy test.db c.db --passphrase-fd 0 --new-key-file -", "keyring init test.db --key-file - --new-key-file -",
    ])
    func oneInputGivesOneSecret(_ arguments: String) throws {
        let outcome = try bash("$R \(arguments) < key")
        #expect(outcome.status == 64 && outcome.errors.contains("standard input"), "\(outcome.errors)")
    }

    @Test func othersPipeIsRefused() throws {
        let outcome = try bash("mkfifo -m 644 pipe; $R verify test.db --key-file pipe")
        #expect(outcome.status == 77 && outcome.errors.contains("give --unsafe-permissions"), "\(outcome.errors)")
    }

    @Test(arguments: [
        "chmod 644 key",
        "t=/tmp/$$.key; cp -p key $t; mv key saved; ln -s $t key; trap 'rm $t; mv -f saved key' EXIT",
    ])
    func unsafeFileErrorNamesOption(_ before: String) throws {
        let outcome = try bash("\(before); $R verify test.db --key-file key")
        #expect(outcome.status == 77 && outcome.errors.contains("or give --unsafe-permissions"), "\(outcome.errors)")
        #expect(try bash("\(before); $R verify test.db --key-file key --unsafe-permissions").status == 0)
    }

    @Test func keyFileOfWrongSizeNamesRightSizes() throws {
        _ = try directory.write([UInt8](repeating: 200, count: 33), to: "key33")
        let outcome = try bash("$R verify test.db --key-file key33")
        #expect(outcome.status == 64)
        #expect(
            outcome.errors.contains("33 bytes; a raw key has 32, or 48 with its salt, or is written as 64 or 96"),
            "\(outcome.errors)"
        )
    }
}
