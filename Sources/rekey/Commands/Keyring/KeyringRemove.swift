import ArgumentParser
import CipherDB

/// `rekey keyring remove FILE NUMBER`
struct KeyringRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a slot.",
        discussion: """
            Any secret of the keyring unlocks it for this. An old copy of the keyring still opens with the removed \
            secret; `rekey help keyring` says how to revoke it.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The number of the slot; `rekey keyring list` prints it.")
    var number: Int
    @Flag(help: "Remove it even if no passphrase and no recovery code remains.")
    var force = false

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let notes = try target.checkDatabase(unlocked)
            let isNote = try unlocked.content().slot(number)?.isNote == true
            try unlocked.remove(slot: number, force: force)
            return target.done(
                [("removed", "slot \(number)")] + notes,
                slot: number,
                note: isNote ? "an old copy of a repository is not noticed until the next `rekey backup`" : nil
            )
        }
    }
}
