import ArgumentParser
import CipherDB

/// `rekey keyring change FILE`
struct KeyringChange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the secret of a slot.",
        discussion: """
            Changes the slot that the present secret unlocks, or --change-slot. The database is not rewritten. The \
            secret that the slot has is refused, unless --label, --kdf or --milliseconds says what else to change. An \
            old copy of the keyring still opens with the old secret. To replace a forgotten passphrase, unlock the \
            keyring with a recovery code and give the slot of the passphrase as --change-slot.
            """
    )

    @OptionGroup var target: KeyringTarget
    @OptionGroup var slot: SlotOptions
    @Option(help: ArgumentHelp("Change this slot instead.", valueName: "number"))
    var changeSlot: Int?
    @Option(help: "New label of the slot. Default: it keeps its label.")
    var label: String?

    func run() throws {
        try target.run { _ in
            let keyring = target.keyring
            let before = try keyring.content()
            try checkSlot(before)
            let unlocked = try target.unlock(upgrades: false)
            let notes = try target.checkDatabase(unlocked)
            let changed = changeSlot ?? unlocked.slot
            let secret = try slot.secret(for: keyring, besides: target.key)
            if label == nil, !slot.isMoreThanSecret, try unlocked.opens(slot: changed, with: secret) {
                throw KeyringError(.secretInUse, path: keyring.path, slots: [changed])
            }
            try unlocked.change(
                slot: changed,
                to: secret,
                label: label,
                derivation: slot.derivation()
            )
            let after = try keyring.content()
            return target.done(
                [("changed", KeyringChange.text(before, after, changed))] + KeyringAdd.note(after) + notes,
                slot: changed
            )
        }
    }
}

extension KeyringChange {
    /// Throws where `--slot` names a slot that the present secret cannot open: what was meant is `--change-slot`.
    private func checkSlot(_ content: KeyringContent) throws {
        let choice = target.key.choice
        guard changeSlot == nil, let number = target.key.slot, choice.isGiven || choice.isRecovery || choice.isExternal,
            let kind = content.slot(number)?.kind, kind != choice.kind
        else { return }
        throw ValidationError(
            "--slot \(number): the slot has a \(kind), and the present secret is a \(choice.kind); to change this slot, give --change-slot \(number)."
        )
    }

    /// The slot, and what it was, where that is another kind: its old secret opens nothing any more.
    private static func text(_ before: KeyringContent, _ after: KeyringContent, _ number: Int) -> String {
        let name = KeyringList.name(number, after.slot(number)?.label ?? "")
        guard let old = before.slot(number)?.kind, let new = after.slot(number)?.kind, old != new else { return name }
        return "\(name), which was a \(old) and is a \(new) now"
    }
}
