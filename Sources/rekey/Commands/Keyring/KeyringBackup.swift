import ArgumentParser
import CipherDB

/// `rekey keyring backup FILE DESTINATION`
struct KeyringBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the keyring, once it has been opened and verified.",
        discussion: "The copy opens with the secrets that the keyring has now, whatever is changed later."
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The file that is made.")
    var destination: String

    func run() throws {
        try target.run { _ in
            try target.unlock(upgrades: false).backUp(to: destination)
            return target.done([("backup", destination)], backup: destination)
        }
    }
}
