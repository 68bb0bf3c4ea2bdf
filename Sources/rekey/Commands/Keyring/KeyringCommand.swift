import ArgumentParser

/// `rekey keyring …`
struct KeyringCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring",
        abstract: "Open one database with several passphrases, recovery codes and key files.",
        discussion: """
            A keyring is a small file, FILE.keyring unless --keyring names another. It holds the random key of the database, \
            wrapped for each way in: its slots. Changing a passphrase rewrites the keyring and not the database. Without the \
            keyring the database cannot be opened: keep a backup of both.

            Whoever had a secret and the keyring, or a copy of it, may have kept the database's key, and what gives him the \
            next ones. To lock him out make a new keyring: `rekey change FILE --keyring OLD --new-keyring NEW`.
            """,
        subcommands: [
            KeyringInit.self, KeyringList.self, KeyringAdd.self, KeyringRemove.self, KeyringChange.self,
            KeyringRecovery.self, KeyringUnlock.self, KeyringRotate.self, KeyringStatus.self, KeyringResume.self,
            KeyringCancel.self, KeyringAdopt.self, KeyringForget.self, KeyringBackup.self, KeyringRestore.self,
            KeyringErase.self,
        ]
    )
}
