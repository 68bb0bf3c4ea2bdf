import ArgumentParser
import CipherDB
import Foundation

/// What a new slot is like.
struct SlotOptions: ParsableArguments {
    @OptionGroup(title: CommandHelp.newKeyOptions) var newKey: SecretOptions<NewSecret>
    @Flag(help: "The new secret is an external secret: 32 random bytes or more, read byte for byte.")
    var newExternal = false
    @Option(
        help: ArgumentHelp(
            "The slot keeps this command, which prints the new secret: an absolute path and arguments, which can be quoted. It is run without a shell.",
            valueName: "command"
        )
    )
    var command: String?
    @Option(
        help: ArgumentHelp("KDF of a new passphrase; argon2id needs OpenSSL 3.2. Default: scrypt.", valueName: "kdf")
    )
    var kdf: KDFOption?
    @Option(
        help: ArgumentHelp(
            "Choose KDF parameters that take about this time here, at most one second. Default: 0.1 to 0.2 seconds.",
            valueName: "number"
        )
    )
    var milliseconds: Int?

    func validate() throws {
        if command != nil, newExternal || newKey.choice(unsafePermissions: false).isGiven {
            throw ValidationError("--command excludes the options of other new secrets.")
        }
        guard milliseconds.map((1...60_000).contains) ?? true else {
            throw ValidationError("--milliseconds: give a number from 1 to 60000.")
        }
    }

    /// The new secret, which is another than the one of `key`.
    func secret(for keyring: Keyring, besides key: KeyOptions) throws -> KeyringSecret {
        if let command { return try .command(AllowedCommands([command]).commands[0]) }
        return try key.choice(ofNew: newKey, isExternal: newExternal)
            .readKeyringSecret(prompt: "for \(keyring.path)", confirmed: true)
    }

    func derivation() throws -> PassphraseDerivation {
        try (kdf ?? .scrypt).derivation(milliseconds: milliseconds)
    }

    /// Whether a slot is to be made again also for the secret that it has: for another KDF, or another command that prints it.
    var isMoreThanSecret: Bool { kdf != nil || milliseconds != nil || command != nil }
}

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

/// `rekey keyring recovery FILE`
struct KeyringRecovery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Add a recovery code: a random secret to write down.",
        discussion: """
            Prints the code once and asks you to type it back, at a terminal up to three times; only then is the slot \
            added. Otherwise the printed code opens nothing. Store the code apart from the database and the keyring.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Option(help: "Label of the slot.")
    var label = ""

    func validate() throws {
        if target.report.json { throw ValidationError("--json: a recovery code is printed as text only.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let notes = try target.checkDatabase(unlocked)
            let code = try RecoveryCode.random()
            // From a person, or a program in place of one.
            let isTyped = isatty(0) == 1
            if isTyped { Output.tell("Write this code down. The slot is added when you have typed it back.\n") }
            try Output.writeLine(code.text())
            let source: KeySource = isTyped ? .prompt("Type the recovery code", confirmed: false) : .descriptor(0)
            let number: Int
            do {
                number = try TypedSecret.ask(isTyped: isTyped) { _ in
                    try unlocked.add(code, typedBack: RecoveryCode(typed: source.read()), label: label)
                }
            } catch let error as MalformedKey {
                Output.tellLine("rekey: \(error)")
                throw KeyringError(.notConfirmed, path: target.keyring.path)
            }
            return target.done([("added", "slot \(number)")] + notes, slot: number)
        }
    }
}

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
