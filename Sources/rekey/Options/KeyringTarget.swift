import ArgumentParser
import CipherDB
import Rekeying

/// The database whose keyring a command is about, and what opens the keyring.
struct KeyringTarget: ParsableArguments {
    @Argument(help: "The database file.")
    var file: String
    @OptionGroup var key: KeyOptions
    @OptionGroup var report: Report

    var keyring: Keyring { key.keyring.map { Keyring(path: $0) } ?? Keyring(besideDatabase: file) }

    func unlock(upgrades: Bool = true) throws -> UnlockedKeyring { try key.unlock(keyring, upgrades: upgrades) }

    /// Unlocks the keyring; nil where no change of the database's key is under way.
    func unlockPending() throws -> UnlockedKeyring? {
        let unlocked = try unlock()
        return try unlocked.content().isRotationPending ? unlocked : nil
    }

    /// The digits of the key that the database is under, or is to be made under.
    func exportKey(_ unlocked: UnlockedKeyring) throws -> SecretBytes {
        do {
            return try DatabaseFile(path: file).key(in: unlocked).exported()
        } catch FileError.missing {
            return try unlocked.exportDatabaseKey()
        }
    }

    /// Runs a command's work on the one file.
    func run(_ body: (Progress) throws -> Report.Result) throws {
        try report.run([file]) { _, progress in try body(progress) }
    }

    /// A command that did what it says.
    func done(_ lines: [(String, String)], slot: Int? = nil, backup: String? = nil) -> Report.Result {
        Report.Result(
            KeyringDone(keyring: keyring.path, slot: slot, backup: backup, note: nil),
            lines: lines + [("keyring", keyring.path)]
        )
    }

    var noRotationPending: Report.Result { nothingToDo("no change of the key is under way") }

    /// A command that found nothing to do, which a script may say twice.
    func nothingToDo(_ reason: String) -> Report.Result {
        Report.Result(
            KeyringDone(keyring: keyring.path, slot: nil, backup: nil, note: reason),
            lines: [("nothing to do", reason)]
        )
    }
}

/// That a change of a keyring was made.
private struct KeyringDone: Encodable {
    let keyring: String
    let slot: Int?
    let backup: String?
    let note: String?
    let ok = true
}
