import ArgumentParser
import CipherDB

/// `rekey keyring change FILE`
struct KeyringChange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the secret of a slot.",
        discussion: """
            Changes the slot that the present secret unlocks, or --change-slot. The database is not rewritten. An \
            old copy of the keyring still opens with the old secret. To replace a forgotten passphrase, unlock the \
            keyring with a recovery code and give the slot of the passphrase as --change-slot.
            """
    )

    @OptionGroup var target: KeyringTarget
    @OptionGroup var slot: SlotOptions
    @Option(help: ArgumentHelp("Change this slot instead.", valueName: "number"))
    var changeSlot: Int?

    func run() throws {
        try target.run { _ in
            let keyring = target.keyring
            let before = try keyring.content()
            let changed: Int
            if let changeSlot {
                try target.unlock(upgrades: false).change(
                    slot: changeSlot,
                    to: slot.secret(for: keyring, unsafePermissions: target.key.unsafePermissions),
                    derivation: slot.derivation()
                )
                changed = changeSlot
            } else {
                changed = try keyring.change(
                    target.key.choice.readKeyringSecret(prompt: "for \(keyring.path)"),
                    to: slot.secret(for: keyring, unsafePermissions: target.key.unsafePermissions),
                    slot: target.key.slot,
                    derivation: slot.derivation()
                )
            }
            let after = try keyring.content()
            return target.done(
                [("changed", KeyringChange.text(before, after, changed))] + KeyringAdd.note(after),
                slot: changed
            )
        }
    }
}

extension KeyringChange {
    /// The slot, and what it was, where that is another kind: its old secret opens nothing any more.
    private static func text(_ before: KeyringContent, _ after: KeyringContent, _ number: Int) -> String {
        let name = KeyringList.name(number, after.slot(number)?.label ?? "")
        guard let old = before.slot(number)?.kind, let new = after.slot(number)?.kind, old != new else { return name }
        return "\(name), which was a \(old) and is a \(new) now"
    }
}
