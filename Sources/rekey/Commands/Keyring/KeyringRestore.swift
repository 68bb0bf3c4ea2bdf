import ArgumentParser
import CipherDB
internal import CipherSystem
import Rekeying

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
        try target.run { _ in try restore(unlock()) }
    }

    /// The backup, or that of a repository.
    private func unlock() throws -> UnlockedKeyring {
        let isDirectory = (try? Platform.status(of: backup).kind) == .directory
        guard isDirectory || backup.lowercased().hasPrefix("rclone:") else {
            return try target.key.unlock(Keyring(path: backup), upgrades: false)
        }
        return try target.key.unlockKeyring(of: BackupRepository(backup), for: .newest)
    }

    private func restore(_ unlocked: UnlockedKeyring) throws -> Report.Result {
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
                + note
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
