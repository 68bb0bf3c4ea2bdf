import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring …`
struct KeyringCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring",
        abstract: "Manage passphrases, recovery codes and key files of a database.",
        discussion: """
            A keyring is a small file, FILE.keyring unless --keyring is given. It stores the random key of the \
            database, wrapped once for each slot; a slot has a passphrase, a recovery code, a key file, an external \
            secret or a command that prints the secret. Changing a passphrase rewrites the keyring, not the database. Without the keyring the \
            database cannot be opened: back up both.

            Removing a slot does not revoke a key that was copied from an unlocked keyring. To revoke it, move the \
            database to a new keyring: `rekey change FILE --keyring OLD --new-keyring NEW`.

            The command of a slot is shown before it is run. It is run only if --allow-command has the same text, or \
            if you type yes at the terminal: somebody who can write the keyring could have put another one there.
            """,
        subcommands: [
            KeyringInit.self, KeyringList.self, KeyringAdd.self, KeyringRemove.self, KeyringChange.self,
            KeyringRecovery.self, KeyringUnlock.self, KeyringRotate.self, KeyringStatus.self, KeyringResume.self,
            KeyringCancel.self, KeyringAdopt.self, KeyringForget.self, KeyringBackup.self, KeyringRestore.self,
            KeyringErase.self,
        ]
    )
}

/// The database of a keyring command, and the secret that unlocks its keyring.
struct KeyringTarget: ParsableArguments {
    @Argument(help: "The database file.", completion: .file())
    var file: String
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    var keyring: Keyring { key.keyring.map { Keyring(path: $0) } ?? Keyring(besideDatabase: file) }

    func unlock(upgrades: Bool = true) throws -> UnlockedKeyring { try key.unlock(keyring, upgrades: upgrades) }

    /// Compares the keyring with the database before a slot is changed: a new secret of a keyring that the database is not under would
    /// open nothing. A database that does not exist yet gets a key of the keyring.
    ///
    /// - Returns: What to say where they could not be compared.
    /// - Throws: `KeyringError.otherDatabase`.
    func checkDatabase(_ unlocked: UnlockedKeyring) throws -> [(String, String)] {
        let database = DatabaseFile(path: file)
        do {
            guard try database.inspect().kind != .empty else { return [] }
            _ = try database.key(in: unlocked)
        } catch FileError.missing {
            return []
        } catch let error as KeyError where error.damagedPages != nil {
            // Under one of the keys.
            return []
        } catch let error as DatabaseError where error.code.primary == .busy {
            return [
                ("note", "another connection has the database locked: whether the keyring opens it was not checked")
            ]
        }
        return []
    }

    /// Unlocks the keyring; nil if no rotation is pending.
    func unlockPending() throws -> UnlockedKeyring? {
        let unlocked = try unlock()
        return try unlocked.content().isRotationPending ? unlocked : nil
    }

    /// The key of the database, or the one for a new database, in hexadecimal digits.
    func exportKey(_ unlocked: UnlockedKeyring) throws -> SecretBytes {
        do {
            return try DatabaseFile(path: file).key(in: unlocked).exported()
        } catch FileError.missing {
            return try unlocked.exportDatabaseKey()
        }
    }

    /// Runs a command on the file.
    func run(_ body: (Progress) throws -> Report.Result) throws {
        try report.run([file]) { _, progress in try body(progress) }
    }

    /// The result of a command that is done.
    func done(
        _ lines: [(String, String)],
        slot: Int? = nil,
        backup: String? = nil,
        note: String? = nil
    ) -> Report.Result {
        Report.Result(
            KeyringDone(keyring: keyring.path, slot: slot, backup: backup, note: note),
            lines: lines + [("keyring", keyring.path)] + (note.map { [("note", $0)] } ?? [])
        )
    }

    var noRotationPending: Report.Result { nothingToDo("no rotation is pending") }

    /// A command that had nothing to do; no error, so that a script can run it twice.
    func nothingToDo(_ reason: String) -> Report.Result {
        Report.Result(
            KeyringDone(keyring: keyring.path, slot: nil, backup: nil, note: reason),
            lines: [("nothing to do", reason)]
        )
    }
}

/// A change of a keyring.
private struct KeyringDone: Encodable {
    let keyring: String
    let slot: Int?
    let backup: String?
    let note: String?
    let ok = true
}
