import ArgumentParser
import CipherDB

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
