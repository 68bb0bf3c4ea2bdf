import CipherDB
import CipherKeys

/// The commands of a keyring's slots that the user allows, by an option or at the terminal.
final class AllowedCommands {
    private(set) var commands: [SecretCommand]

    init(_ texts: [String]) throws {
        commands = try texts.map { try SecretCommand($0) }
    }

    /// Asks at the terminal about each command of the slots until one is allowed; false where none is, or no slot has one.
    ///
    /// - Throws: `KeyringError.commandNotAllowed` where nobody can be asked, not for a passphrase either.
    func ask(_ content: KeyringContent, slot number: Int?, _ path: String) throws -> Bool {
        for slot in content.slots where number == nil || slot.number == number {
            guard let command = slot.command else { continue }
            let question = """
                \(path), \(KeyringList.name(slot.number, Output.visible(slot.label))), has a command that prints its secret:
                  \(command)
                The keyring is not verified yet. Type yes to run the command, or press Return for another secret
                """
            guard let isAllowed = try Terminal.confirm(question) else {
                throw KeyringError(.commandNotAllowed, path: path, slots: [slot.number], command: command)
            }
            if isAllowed {
                commands.append(command)
                return true
            }
        }
        return false
    }

    /// Unlocks the keyring by the commands that are allowed, each of which is shown before it is run.
    func unlock(_ keyring: Keyring, slot number: Int?) throws -> UnlockedKeyring {
        for slot in try keyring.slots() where number == nil || slot.number == number {
            if let command = slot.command, commands.contains(command) {
                Output.tell("rekey: \(KeyringList.name(slot.number, slot.label)) runs \(command)\n")
            }
        }
        return try keyring.unlock(allowing: commands, slot: number)
    }
}
