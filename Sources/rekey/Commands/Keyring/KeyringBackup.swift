import ArgumentParser
import CipherDB
internal import CipherSystem
import Rekeying

/// `rekey keyring backup FILE DESTINATION`
struct KeyringBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Unlock, authenticate and copy the keyring.",
        discussion: "The copy opens with the secrets that the keyring has now, regardless of later changes."
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The backup to create.", completion: .file())
    var destination: String

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock(upgrades: false)
            var notes: [(String, String)] = []
            do {
                notes = try target.checkDatabase(unlocked)
            } catch let error as KeyringError where error.code == .otherDatabase {
                // It may open copies of the database.
                notes = [("note", "\(target.file) is not under this keyring, so the backup does not open it")]
            }
            do {
                try unlocked.backUp(to: destination)
            } catch KeyringError.exists {
                throw BackupExists(path: destination)
            }
            return target.done([("backup", destination)] + notes, backup: destination)
        }
    }
}

/// Something stands where a backup of a keyring was to be made.
struct BackupExists: Error, CustomStringConvertible {
    let path: String
    var description: String {
        "\(path): exists already, and may open older copies of the database; give the backup another name, such as one with the date"
    }
}

/// `rekey keyring restore FILE BACKUP`
struct KeyringRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace a missing, damaged or wrong keyring by a backup.",
        discussion: """
            The key options unlock the backup. Refused if the database has a newer key, or is another database: the \
            backup could not open it. A keyring that has other slots or keys is kept, as FILE.keyring.replaced-1 or the \
            next number.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The backup, or a repository of backups of the database.", completion: .file())
    var backup: String

    func run() throws {
        try target.run { _ in
            let (unlocked, damage) = try unlock()
            return try restore(
                unlocked,
                damage.map { [("note", "\($0); its keyring is not known, so the newest that is stored was taken")] }
                    ?? []
            )
        }
    }

    /// The backup, or that of a repository, with what is damaged of its newest generation.
    private func unlock() throws -> (UnlockedKeyring, BackupError?) {
        let isRemote = backup.lowercased().hasPrefix("rclone:")
        do {
            guard try isRemote || Platform.status(of: backup).kind == .directory else {
                return (try target.key.unlock(Keyring(path: backup), upgrades: false), nil)
            }
        } catch let error as Errno {
            // A missing keyring would get the advice to restore one.
            throw FileError(error == .noSuchFile ? .missing : .system, path: backup, errno: error.code)
        }
        let repository = BackupRepository(backup)
        // The present database tells whether the newest keyring is that of it.
        let damage = try repository.damageOfNewestManifest()
        return (try target.key.unlockKeyring(of: repository, for: damage == nil ? .newest : nil), damage)
    }

    private func restore(_ unlocked: UnlockedKeyring, _ notes: [(String, String)]) throws -> Report.Result {
        let kept: String?
        do {
            kept = try DatabaseFile(path: target.file).restoreKeyring(target.keyring, from: unlocked)
        } catch KeyringError.otherDatabase {
            throw BackupOpensNothing(path: backup)
        }
        let position = try DatabaseFile(path: target.file).position(in: unlocked)
        let note =
            position == .older ? [("note", "the database is under a retired key; run `rekey keyring adopt`")] : []
        return target.done(
            [("restored", "from \(backup)")]
                + (kept.map { [("replaced", "a keyring with other slots or keys, kept as \($0)")] } ?? [])
                + note + notes
                + OwnershipNote.lines(target.keyring.path, of: target.file),
            backup: backup
        )
    }
}

/// A backup of a keyring that has not the key of the database.
struct BackupOpensNothing: Error, CustomStringConvertible {
    let path: String
    var description: String {
        "\(path): the database is under no key of this backup: it is older than the last rotation of the key, or that of another "
            + "database; use a newer backup, or a copy of the database from its time"
    }
}

/// `rekey keyring erase FILE`
struct KeyringErase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Overwrite and remove the keyring: the database can no longer be opened.",
        discussion: """
            Backups of the keyring still open the database, and so does an exported key. On flash storage, and where \
            there are snapshots, overwritten blocks may survive.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Confirm that the database may be lost.")
    var yesDestroyTheData = false

    func validate() throws {
        guard yesDestroyTheData else { throw ValidationError("Give --yes-destroy-the-data to confirm.") }
    }

    func run() throws {
        try target.run { _ in
            // A secret that is given must be that of the keyring, which may be damaged where none is.
            if target.key.isGiven { _ = try target.unlock(upgrades: false) }
            try target.keyring.erase()
            return target.done([("erased", "yes")])
        }
    }
}
