import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring backup FILE DESTINATION`
struct KeyringBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the keyring, once it has been opened and verified.",
        discussion: "The copy opens with the secrets that the keyring has now, whatever is changed later."
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The file that is made.")
    var destination: String

    func run() throws {
        try target.run { _ in
            try target.unlock(upgrades: false).backUp(to: destination)
            return target.done([("backup", destination)], backup: destination)
        }
    }
}

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

/// `rekey keyring erase FILE`
struct KeyringErase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Overwrite and remove the keyring: nobody can open the database any more.",
        discussion: """
            Backups of the keyring still open it, and so does whoever has noted its key; on flash, and where there are snapshots, \
            overwriting is no promise.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Say that the database may be lost with it.")
    var yesDestroyTheData = false

    func validate() throws {
        guard yesDestroyTheData else { throw ValidationError("Give --yes-destroy-the-data, where that is meant.") }
    }

    func run() throws {
        try target.run { _ in
            // A secret that is given must be that of the keyring, which may be damaged where none is.
            if target.key.choice.isGiven { _ = try target.unlock(upgrades: false) }
            try target.keyring.erase()
            return target.done([("erased", "yes")])
        }
    }
}
