import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// `rekey keyring add FILE`
struct KeyringAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a passphrase, a key file or an external secret.",
        discussion: "Any secret of the keyring opens it for this. Recovery codes are added by `rekey keyring recovery`."
    )

    @OptionGroup var target: KeyringTarget
    @OptionGroup var slot: SlotOptions
    @Option(help: "What the slot is called.")
    var label = ""

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let number = try unlocked.add(
                slot.secret(for: target.keyring, unsafePermissions: target.key.unsafePermissions),
                label: label,
                derivation: slot.derivation()
            )
            return target.done([("added", "slot \(number)")] + KeyringAdd.note(try unlocked.content()), slot: number)
        }
    }

    /// What to say where a passphrase is no longer found without the number of its slot.
    static func note(_ content: KeyringContent) -> [(String, String)] {
        content.needsSlotNumber ? [("note", "with so many passphrases each needs the number of its slot: --slot")] : []
    }
}

/// `rekey keyring change FILE`
struct KeyringChange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the passphrase, or other secret, of the slot that the present one opens, or of another.",
        discussion: """
            The database is not touched, whatever its size. An old copy of the keyring still opens with the old secret. Whoever \
            has forgotten a passphrase opens the keyring with a recovery code, and names the passphrase's slot by --change-slot.
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

/// `rekey keyring recovery FILE`
struct KeyringRecovery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Add a recovery code: a random secret to be written down.",
        discussion: """
            The code is printed and must be typed back: only then it counts. It is shown this once; keep it where the database \
            and the keyring are not.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Option(help: "What the slot is called.")
    var label = ""

    func validate() throws {
        if target.report.json { throw ValidationError("A recovery code is for people; there is no --json.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let code = try RecoveryCode.random()
            try Output.writeLine(code.text())
            // From whoever reads the code: a person, or the program that stands for one.
            let source: KeySource =
                isatty(0) == 1 ? .prompt("Type the recovery code", confirmed: false) : .descriptor(0)
            let typed = try source.read()
            let number = try unlocked.add(code, typedBack: typed, label: label)
            return target.done([("added", "slot \(number)")], slot: number)
        }
    }
}
