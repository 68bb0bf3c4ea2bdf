import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring list FILE`
struct KeyringList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the slots and dates of the keyring; no secret is needed.",
        discussion: "Without a secret they are not authenticated: see `rekey keyring unlock`."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            let content = try target.keyring.content()
            let object = KeyringJSON(content, path: target.keyring.path)
            return Report.Result(
                object,
                lines: [("keyring", target.keyring.path)] + KeyringLines.of(content) + KeyringList.lines(content)
            )
        }
    }

    static func name(_ number: Int, _ label: String) -> String {
        "slot \(number)" + (label.isEmpty ? "" : " “\(label)”")
    }

    private static func lines(_ content: KeyringContent) -> [(String, String)] {
        content.slots.map { slot in
            let kind = slot.kind.map { "\($0)" } ?? (slot.isNote ? "notes of backups" : "unknown kind")
            // At the end of the line, to be copied.
            let command = slot.command.map { ": \($0)" } ?? ""
            let kdf = slot.derivation.map { ", \($0)" } ?? ""
            return (name(slot.number, slot.label), "\(kind)\(kdf), changed \(slot.changed.day)\(command)")
        }
    }
}

/// `rekey keyring status FILE`
struct KeyringStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print which key of the keyring the database is under, and whether a rotation is pending.",
        discussion: "Unlocks and authenticates the keyring."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock(upgrades: false)
            let content = try unlocked.content()
            let position = try DatabaseFile(path: target.file).position(in: unlocked)
            let text =
                switch position {
                case .current: "under the current key of the keyring"
                case .next: "under the new key of a pending rotation; `rekey keyring resume` completes it"
                case .older: "under a retired key; `rekey keyring adopt` makes it the current one"
                case .other where content.isInUse: "under no key of the keyring"
                case .other: "not under the key of the keyring yet; run `rekey keyring init`"
                }
            return Report.Result(
                KeyringJSON(content, path: target.keyring.path, position: position),
                lines: [("database", text)] + KeyringLines.of(content),
                status: [.older, .other].contains(position) ? .noPermission : .done
            )
        }
    }
}

/// `rekey keyring unlock FILE`
struct KeyringUnlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Check which slot a secret unlocks, and authenticate the keyring.",
        discussion: """
            --export-raw-key prints the database key as 64 hexadecimal digits, which every SQLCipher accepts as a \
            raw key. Everyone who has them can open the database.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Print the database key to standard output, and nothing else.")
    var exportRawKey = false

    func validate() throws {
        if exportRawKey, target.report.json { throw ValidationError("--export-raw-key and --json exclude each other.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            if exportRawKey {
                try Output.writeLine(target.exportKey(unlocked))
                return Report.Result(Opened(slot: unlocked.slot, label: ""), lines: [])
            }
            let label = try unlocked.content().slot(unlocked.slot)?.label ?? ""
            return Report.Result(
                Opened(slot: unlocked.slot, label: label),
                lines: [("opens", KeyringList.name(unlocked.slot, label))]
            )
        }
    }

    private struct Opened: Encodable {
        let slot: Int
        let label: String
    }
}
