import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Commands of slots: their text, their limits, and keyrings that they open.
@Suite struct SecretCommandTests {
    let directory: TemporaryDirectory
    let keyring: Keyring
    let passphrase: KeyringSecret
    /// A file with a secret, and a command that prints it.
    let secret: String
    let command: SecretCommand

    init() throws {
        directory = try TemporaryDirectory()
        keyring = Keyring(path: directory.file("keyring"))
        passphrase = try .sample("Ada")
        secret = try directory.write((0..<40).map { UInt8($0 * 6) }, to: "secret")
        command = try SecretCommand(arguments: ["/bin/cat", secret])
    }

    static let texts: [(String, [String])] = [
        ("/bin/x", ["/bin/x"]), ("  /bin/x   a  b ", ["/bin/x", "a", "b"]), ("/bin/x ''", ["/bin/x", ""]),
        ("/bin/x \"\" ' '", ["/bin/x", "", " "]), ("'/bin/a b' c", ["/bin/a b", "c"]),
        (#"/bin/x 'a\b"$`'"#, ["/bin/x", #"a\b"$`"#]), (#"/bin/x "a\\b\"c\d'e""#, ["/bin/x", #"a\b"c\d'e"#]),
        (#"/bin/x a\ b\'\\"#, ["/bin/x", #"a b'\"#]), (#"/bin/x a'b'"c"d"#, ["/bin/x", "abcd"]),
        ("/bin/x --a=b,c:%user@host/+_-.", ["/bin/x", "--a=b,c:%user@host/+_-."]),
        ("/bin/x \"<>|&;*?\"", ["/bin/x", "<>|&;*?"]),
    ]

    @Test(arguments: texts)
    func textIsSplitByQuotingRules(text: String, arguments: [String]) throws {
        #expect(try SecretCommand(text).arguments == arguments)
    }

    @Test func textThatShellWouldExpandIsRefused() {
        for character in "$`|&;<>()*?[]{}~#!" {
            #expect(throws: MalformedCommand.shellCharacter(character)) { try SecretCommand("/bin/x a\(character)b") }
        }
        for text in ["/bin/x \"$HOME\"", "/bin/x \"`id`\""] {
            #expect(throws: MalformedCommand.self) { try SecretCommand(text) }
        }
        for text in ["/bin/x 'a", "/bin/x \"a", "/bin/x \"a'", "/bin/x a\\"] {
            #expect(throws: MalformedCommand.openQuote) { try SecretCommand(text) }
        }
    }

    @Test func textIsReadBackByUsAndByShell() throws {
        var random = SplitMix(28)
        for _ in 0..<200 {
            let arguments = (0..<Int.random(in: 1...5, using: &random)).map { index in
                (index == 0 ? "/" : "")
                    + (0..<Int.random(in: 0...12, using: &random)).map { _ in
                        String(UnicodeScalar(UInt8.random(in: 0x20...0x7e, using: &random)))
                    }.joined()
            }
            let command = try SecretCommand(arguments: arguments)
            #expect(try SecretCommand(command.description) == command)
            let printed = try Program.run("/bin/sh", ["-c", "printf '%s\\n' \(command)"]).output
            #expect(printed == arguments.map { $0 + "\n" }.joined())
        }
    }

    @Test func unusableArgumentsAreRefused() {
        func problem(_ arguments: [String]) -> MalformedCommand? {
            do {
                _ = try SecretCommand(arguments: arguments)
                return nil
            } catch {
                return error
            }
        }
        #expect(problem([]) == .empty && problem([""]) == .empty)
        for program in ["age", "bin/age", "./age", "~/age"] { #expect(problem([program]) == .relativePath(program)) }
        for text in ["a\nb", "a\u{7f}", "а", "a\u{202E}b", "\0"] {
            #expect(problem(["/bin/x", text]) == .unusableCharacter)
        }
        #expect(problem(["/bin/x"] + Array(repeating: "a", count: 32)) == .tooLong)
        #expect(problem(["/bin/x", String(repeating: "a", count: 256)]) == .tooLong)
        #expect(problem(["/bin/x"] + Array(repeating: String(repeating: "a", count: 255), count: 4)) == .tooLong)
        #expect(problem(["/bin/x"] + Array(repeating: "", count: 31)) == nil)
    }

    @Test func commandOfSlotOpensKeyring() throws {
        let unlocked = try keyring.create(with: passphrase, label: "Ada")
        #expect(try unlocked.add(.command(command), label: "machine") == 2)
        let slot = try #require(try keyring.content().slots.last)
        #expect(slot.kind == .command && slot.command == command && slot.derivation == nil)
        #expect(slot.description.contains("command \(command)"))
        let again = try keyring.unlock(allowing: [SecretCommand("/bin/false"), command])
        #expect(try again.slot == 2 && again.databaseKey() == unlocked.databaseKey())
        #expect(try keyring.unlock(allowing: [command], slot: 2).slot == 2)
        #expect(try keyring.unlock(.command(command)).slot == 2)
        // The same bytes from elsewhere are another kind of secret.
        let external = try KeyringSecret.external(KeySource.file(path: secret).read())
        expect(throws: KeyringError.wrongSecret) { _ = try keyring.unlock(external) }
        expect(throws: KeyringError.secretInUse, where: { $0.slots == [2] }) { try unlocked.add(.command(command)) }
        try unlocked.change(slot: 2, to: external)
        #expect(try keyring.content().slots.last?.command == nil && keyring.unlock(external).slot == 2)
        try unlocked.change(label: "machine", to: .command(command))
        #expect(try keyring.unlock(allowing: [command]).slot == 2)
    }

    @Test func keyringOfCommandAloneIsMade() async throws {
        try await keyring.create(with: .command(command))
        #expect(try await keyring.unlock(allowing: [command]).slot == 1)
    }

    @Test func nextCommandIsTriedAfterFailure() throws {
        let unlocked = try keyring.create(with: passphrase)
        let lost = try SecretCommand(arguments: ["/bin/cat", directory.write((0..<40).map { $0 }, to: "lost")])
        try unlocked.add(.command(lost))
        try unlocked.add(.command(command))
        try FileManager.default.removeItem(atPath: directory.file("lost"))
        #expect(try keyring.unlock(allowing: [lost, command]).slot == 3)
        let failed = KeySourceError(.commandFailed, path: "command /bin/cat", status: 1)
        #expect(throws: failed) { try keyring.unlock(allowing: [lost]) }
        #expect(throws: failed) { try keyring.unlock(allowing: [lost, command], slot: 2) }
        expect(throws: KeyringError.noCommand) { _ = try keyring.unlock(allowing: [command], slot: 1) }
        expect(throws: KeyringError.noSuchSlot, where: { $0.slots == [9] }) {
            _ = try keyring.unlock(allowing: [command], slot: 9)
        }
        _ = try directory.write((0..<40).map { $0 + 1 }, to: "lost")
        expect(throws: KeyringError.wrongSecret) { _ = try keyring.unlock(allowing: [lost]) }
    }

    @Test func commandThatPrintsAnotherSecretIsRefused() throws {
        let unlocked = try keyring.create(with: passphrase)
        let random = try SecretCommand("/usr/bin/head -c 32 /dev/urandom")
        #expect(throws: KeySourceError(.notRepeatable, path: "command /usr/bin/head")) {
            try unlocked.add(.command(random))
        }
        #expect(throws: MalformedKey.secretTooShort(count: 3)) {
            try unlocked.add(.command(SecretCommand("/usr/bin/printf abc")))
        }
        #expect(try keyring.content().slots.count == 1)
    }

    @Test func commandHasNoInput() throws {
        #expect(throws: MalformedKey.secretTooShort(count: 0)) { try KeyringSecret.command(SecretCommand("/bin/cat")) }
    }

    @Test(arguments: [
        "/bin/sleep 100", "/bin/sh -c 'exec >&-; exec sleep 100'",
        "/bin/sh -c 'trap \"\" TERM; while :; do sleep 1; done'",
        "/bin/sh -c 'while :; do echo a; sleep 0.1; done'",
    ])
    func commandThatDoesNotEndIsEnded(text: String) throws {
        let began = ContinuousClock.now
        let error = KeySourceError(.timedOut, path: "command \(text.prefix { $0 != " " })", limit: .seconds(1))
        #expect(throws: error) { try SecretCommand(text).read(limit: .seconds(1)) }
        #expect(ContinuousClock.now - began < .seconds(30))
    }

    @Test func commandWithTooMuchOutputIsEnded() throws {
        #expect(throws: KeySourceError(.tooLarge, path: "command /usr/bin/yes")) {
            try KeyringSecret.command(SecretCommand("/usr/bin/yes"))
        }
    }
}
