import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring cancel FILE`
struct KeyringCancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Undo an interrupted rotation."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            guard let unlocked = try target.unlockPending() else { return target.noRotationPending }
            try DatabaseFile(path: target.file).cancelRotation(of: unlocked)
            return target.done([("key", "the old one")])
        }
    }
}
