import ArgumentParser
import CipherDB

/// `rekey keyring remove FILE NUMBER`
struct KeyringRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a slot.",
        discussion: """
            Any secret of the keyring opens it for this. An old copy of the keyring still opens with the removed secret; see \
            `rekey keyring --help` for how to lock somebody out.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The number of the slot, as `rekey keyring list` prints it.")
    var number: Int
    @Flag(help: "Also where no passphrase and no recovery code would be left.")
    var force = false

    func run() throws {
        try target.run { _ in
            try target.unlock().remove(slot: number, force: force)
            return target.done([("removed", "slot \(number)")], slot: number)
        }
    }
}
