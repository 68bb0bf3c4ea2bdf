import ArgumentParser
import CipherDB

/// `rekey keyring backup FILE DESTINATION`
struct KeyringBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Unlock, authenticate and copy the keyring.",
        discussion: "The copy opens with the secrets that the keyring has now, regardless of later changes."
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The backup to create.")
    var destination: String

    func run() throws {
        try target.run { _ in
            try target.unlock(upgrades: false).backUp(to: destination)
            return target.done([("backup", destination)], backup: destination)
        }
    }
}
