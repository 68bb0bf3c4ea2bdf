import ArgumentParser
import CipherDB

/// `rekey keyring add FILE`
struct KeyringAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a passphrase, a key file, an external secret or a command.",
        discussion: "Any secret of the keyring unlocks it for this. `rekey keyring recovery` adds recovery codes."
    )

    @OptionGroup var target: KeyringTarget
    @OptionGroup var slot: SlotOptions
    @Option(help: "Label of the slot.")
    var label = ""

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let notes = try target.checkDatabase(unlocked)
            let number = try unlocked.add(
                slot.secret(for: target.keyring, besides: target.key),
                label: label,
                derivation: slot.derivation()
            )
            return target.done(
                [("added", "slot \(number)")] + KeyringAdd.note(try unlocked.content()) + notes,
                slot: number
            )
        }
    }

    /// What to say where a passphrase is no longer found without the number of its slot.
    static func note(_ content: KeyringContent) -> [(String, String)] {
        content.needsSlotNumber ? [("note", "with this many passphrases, unlocking needs --slot")] : []
    }
}
