import ArgumentParser
import CipherDB
import Rekeying

/// Where the key of the file comes from.
struct KeyOptions: ParsableArguments {
    @OptionGroup var secret: SecretOptions<PresentSecret>

    @Option(
        help: ArgumentHelp(
            "Take the key from this keyring, which the passphrase or the key file opens; of `rekey keyring` the keyring itself.",
            valueName: "path"
        )
    )
    var keyring: String?

    @Flag(help: "What opens the keyring is a recovery code.")
    var recovery = false

    @Flag(help: "What opens the keyring is an external secret; it is read byte for byte.")
    var external = false

    @Option(help: ArgumentHelp("Try this slot of the keyring only.", valueName: "number"))
    var slot: Int?

    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations that the file was made with, where they are not its format's own.",
            valueName: "number"
        )
    )
    var fileKdfIter: Int?

    @Flag(help: "Accept files of secrets that other users can read, for both keys.")
    var unsafePermissions = false

    var choice: SecretChoice {
        secret.choice(unsafePermissions: unsafePermissions, isRecovery: recovery, isExternal: external)
    }

    func validate() throws {
        try choice.checkKind()
        if keyring != nil, fileKdfIter != nil { throw ValidationError("A keyring's key needs no iterations.") }
    }

    /// The key that opens `file`, which is recognised before a secret is asked for that would not help.
    func read(for file: String, _ secret: Once<DatabaseKey>) throws -> DatabaseKey {
        switch try DatabaseFile(path: file).inspect().kind {
        case .plaintext: throw KeyError(path: file, problem: .notEncrypted)
        case .empty: throw KeyError(path: file, problem: .notADatabase)
        case .encrypted, .notADatabase: return try readUnchecked(for: file, secret)
        }
    }

    /// The key that opens `file`. `secret` has it from the first file on.
    func readUnchecked(for file: String, _ secret: Once<DatabaseKey>) throws -> DatabaseKey {
        try secret {
            if let keyring {
                return try DatabaseFile(path: file).key(in: unlock(Keyring(path: keyring), upgrades: false))
            }
            try checkNoKeyring()
            return try choice.read(prompt: "Passphrase of \(file)")
        }
    }

    /// The key of `file`, where options say where it comes from.
    func readIfGiven(for file: String) throws -> DatabaseKey? {
        if let keyring { return try DatabaseFile(path: file).key(in: unlock(Keyring(path: keyring), upgrades: false)) }
        try checkNoKeyring()
        return try choice.readIfGiven()
    }

    private func checkNoKeyring() throws {
        guard !recovery, !external, slot == nil else {
            throw ValidationError("--recovery, --external and --slot go with --keyring")
        }
    }

    /// Opens a keyring, which is looked at before anybody is asked for a secret.
    ///
    /// - Parameter upgrades: Whether a passphrase that is stretched too little is stretched anew: not by what only reads.
    func unlock(_ keyring: Keyring, upgrades: Bool) throws -> UnlockedKeyring {
        _ = try keyring.content()
        let secret = try choice.readKeyringSecret(prompt: "for \(keyring.path)")
        return try keyring.unlock(secret, slot: slot, upgrades: upgrades)
    }

    /// The file, as these options describe it.
    func database(_ path: String) -> DatabaseFile {
        var database = DatabaseFile(path: path)
        database.iterations = fileKdfIter
        return database
    }
}
