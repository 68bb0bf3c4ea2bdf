import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Somebody who can write the keyring, and has no secret of it, makes nothing run that the caller did not allow.
@Suite(.once) struct SlotCommandTests {
    let directory: TemporaryDirectory
    let keyring: Keyring
    /// Prints the secret, and writes a line to `runs`.
    let command: SecretCommand
    /// Writes the file `planted`.
    let hostile: SecretCommand
    var planted: Bool { FileManager.default.fileExists(atPath: directory.file("planted")) }
    var runs: Int {
        let text = try? String(contentsOfFile: directory.file("runs"), encoding: .utf8)
        return text?.split(separator: "\n").count ?? 0
    }

    init() throws {
        directory = try TemporaryDirectory()
        keyring = Keyring(path: directory.file("keyring"))
        let secret = try directory.write((0..<40).map { UInt8($0 * 6) }, to: "secret")
        let script = "#!/bin/sh\necho run >> '\(directory.file("runs"))'\nexec cat \"$@\"\n"
        command = try SecretCommand(arguments: [directory.write(script.utf8, to: "client", mode: 0o700), secret])
        hostile = try SecretCommand(arguments: ["/usr/bin/touch", directory.file("planted")])
        let unlocked = try keyring.create(with: .sample("Ada"))
        try unlocked.add(.command(command), label: "machine")
        try FileManager.default.removeItem(atPath: directory.file("runs"))
    }

    /// Writes the keyring as somebody without a secret does: the digest is right, the MAC is the old one.
    private func alter(_ change: (inout [KeyringSlot]) -> Void) throws {
        let file = try Array(Data(contentsOf: URL(fileURLWithPath: keyring.path)))
        var content = try KeyringContent(file)
        change(&content.slots)
        _ = try directory.write(content.encoded() + file.suffix(KeyringContent.codeSize), to: "keyring")
    }

    private func slot(_ old: KeyringSlot, number: Int? = nil, _ command: SecretCommand) -> KeyringSlot {
        KeyringSlot(
            number: number ?? old.number,
            kind: .command,
            label: old.label,
            created: old.created,
            changed: old.changed,
            kindNumber: KeyringSecret.Kind.command.rawValue,
            kdf: .direct,
            salt: old.salt,
            command: command,
            wrapped: old.wrapped
        )
    }

    @Test func commandThatIsNotAllowedIsNotRun() throws {
        let isOfSlot = { (error: KeyringError) in error.slots == [2] && error.command == command }
        expect(throws: KeyringError.commandNotAllowed, where: isOfSlot) { try keyring.unlock(allowing: []) }
        expect(throws: KeyringError.commandNotAllowed, where: isOfSlot) { try keyring.unlock(allowing: [hostile]) }
        expect(throws: KeyringError.commandNotAllowed, where: isOfSlot) { try keyring.unlock(allowing: [], slot: 2) }
        let error = #expect(throws: KeyringError.self) { try keyring.unlock(allowing: []) }
        #expect(error.map { "\($0)" }?.contains(command.description) == true, "the command is shown")
        #expect(runs == 0 && !planted)
    }

    @Test func readingKeyringRunsNoCommand() throws {
        try alter { $0[1] = slot($0[1], hostile) }
        #expect(try keyring.content().slots[1].command == hostile)
        expect(throws: KeyringError.altered) { _ = try keyring.unlock(.sample("Ada")) }
        expect(throws: KeyringError.wrongSecret) { _ = try keyring.unlock(.sample("Bob")) }
        #expect(runs == 0 && !planted)
    }

    @Test func plantedCommandIsNotRun() throws {
        let path = command.arguments[0]
        for arguments in [
            hostile.arguments, [path], [path, command.arguments[1], "more"], [path, command.arguments[1] + "x"],
            [path + " " + command.arguments[1]], ["/" + path, command.arguments[1]], [path, "", command.arguments[1]],
        ] {
            let other = try SecretCommand(arguments: arguments)
            try alter { $0[1] = slot($0[1], other) }
            expect(throws: KeyringError.commandNotAllowed, where: { $0.slots == [2] && $0.command == other }) {
                try keyring.unlock(allowing: [command])
            }
        }
        #expect(runs == 0 && !planted)
    }

    @Test func plantedSlotRunsNothingBesideOwnCommand() throws {
        try alter { $0 = [$0[0], slot($0[1], number: 7, hostile), $0[1], slot($0[1], number: 8, hostile)] }
        expect(throws: KeyringError.altered) { _ = try keyring.unlock(allowing: [command]) }
        #expect(runs == 1 && !planted)
    }

    @Test func plantedSlotsRunAllowedCommandOnce() throws {
        try alter { slots in
            let own = slots.removeLast()
            slots += (10..<30).map { slot(own, number: $0, command) } + [own]
        }
        expect(throws: KeyringError.altered) { _ = try keyring.unlock(allowing: [command]) }
        #expect(runs == 1)
    }

    @Test func keyringOfAttackerOpensNothingOfOurs() throws {
        // The attacker's own keyring, in the place of ours, names our command.
        try FileManager.default.removeItem(atPath: keyring.path)
        try keyring.create(with: .sample("Eve"))
        try alter { $0.append(slot($0[0], number: 2, command)) }
        expect(throws: KeyringError.wrongSecret) { _ = try keyring.unlock(allowing: [command]) }
    }

    @Test func commandAndErrorsShowNoSecret() throws {
        let secret = "the-secret-that-a-command-prints-0123456789"
        let path = try directory.write("#!/bin/sh\nprintf %s \(secret)\nexit 3\n".utf8, to: "failing", mode: 0o700)
        let failing = try SecretCommand(arguments: [path])
        let error = #expect(throws: KeySourceError.self) { try KeyringSecret.command(failing) }
        #expect(error?.code == .commandFailed && error?.status == 3)
        _ = try directory.write("#!/bin/sh\nprintf %s \(secret)\n".utf8, to: "failing", mode: 0o700)
        let printed = try KeyringSecret.command(failing)
        var dumped = ""
        dump(printed, to: &dumped)
        for text in ["\(printed)", dumped, error.map { "\($0)" } ?? ""] { #expect(!text.contains(secret)) }
    }
}
