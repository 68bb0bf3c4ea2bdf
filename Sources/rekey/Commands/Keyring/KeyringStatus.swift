import ArgumentParser
import CipherDB
import Rekeying

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
