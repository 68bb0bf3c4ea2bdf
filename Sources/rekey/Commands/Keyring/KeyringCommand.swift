import ArgumentParser

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
