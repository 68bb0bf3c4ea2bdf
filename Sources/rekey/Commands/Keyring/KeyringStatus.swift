import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring status FILE`
struct KeyringStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether the database is under the keyring's key, and whether a change of it was interrupted.",
        discussion: "The keyring is opened and verified for this."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock(upgrades: false)
            let content = try unlocked.content()
            let position = try DatabaseFile(path: target.file).position(in: unlocked)
            let text =
                switch position {
                case .current: "under the keyring's key"
                case .next: "under the new key, which `rekey keyring resume` makes the only one"
                case .older: "under a key that was given up; `rekey keyring adopt` makes it the one that counts"
                case .other where content.isInUse: "not under the keyring's key"
                case .other: "not under the keyring's key yet: `rekey keyring init`"
                }
            return Report.Result(
                KeyringJSON(content, path: target.keyring.path, position: position),
                lines: [("database", text)] + KeyringLines.of(content),
                status: [.older, .other].contains(position) ? .noPermission : .done
            )
        }
    }
}
