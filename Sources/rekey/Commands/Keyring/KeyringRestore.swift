import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring restore FILE BACKUP`
struct KeyringRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of a keyring that is missing, damaged, or has other slots.",
        discussion: """
            The options say what opens the backup. Refused where the database has another key by now, or is another one: then \
            the backup would lock it out.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The backup.")
    var backup: String

    func run() throws {
        try target.run { _ in
            let backup = Keyring(path: backup)
            let unlocked = try target.key.unlock(backup, upgrades: false)
            try DatabaseFile(path: target.file).restoreKeyring(target.keyring, from: unlocked)
            let position = try DatabaseFile(path: target.file).position(in: unlocked)
            let note = position == .older ? [("note", "the database is an old copy: rekey keyring adopt")] : []
            return target.done([("restored", "from \(backup.path)")] + note, backup: backup.path)
        }
    }
}
