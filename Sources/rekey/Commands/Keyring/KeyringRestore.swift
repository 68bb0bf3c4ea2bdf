import ArgumentParser
import CipherDB
internal import CipherSystem
import Foundation
import Rekeying

/// `rekey keyring restore FILE BACKUP`
struct KeyringRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace a missing, damaged or wrong keyring by a backup.",
        discussion: """
            The key options unlock the backup. Refused if the database has a newer key, or is another database: the \
            backup could not open it. A keyring that does not open the database is kept, as FILE.keyring.replaced-1 or \
            the next number.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Argument(help: "The backup, or a repository of backups of the database.", completion: .file())
    var backup: String

    func run() throws {
        try target.run { _ in try restoring(restore) }
    }

    /// Calls `body` with the backup; with that of a repository, it is a file beside the keyring meanwhile.
    private func restoring(_ body: (Keyring) throws -> Report.Result) throws -> Report.Result {
        let isDirectory = (try? Platform.status(of: backup).kind) == .directory
        guard isDirectory || backup.lowercased().hasPrefix("rclone:") else { return try body(Keyring(path: backup)) }
        let copy = Keyring(path: "\(target.keyring.path).of-repository-\(ProcessInfo.processInfo.processIdentifier)")
        try BackupRepository(backup).restoreKeyring(to: copy)
        defer { try? FileCalls.remove(copy.path) }
        return try body(copy)
    }

    private func restore(_ copy: Keyring) throws -> Report.Result {
        let unlocked = try target.key.unlock(copy, upgrades: false)
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
                + (kept.map { [("replaced", "a keyring that does not open the database, kept as \($0)")] } ?? [])
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
