import ArgumentParser
import CipherDB
import Rekeying

/// Where the key of the file comes from.
struct KeyOptions: ParsableArguments {
    @OptionGroup var secret: SecretOptions<PresentSecret>

    @Option(
        help: ArgumentHelp(
            "Unlock this keyring and use its key. Default of `rekey keyring`: FILE.keyring.",
            valueName: "path"
        ),
        completion: .file()
    )
    var keyring: String?

    @Flag(help: "The secret of the keyring is a recovery code.")
    var recovery = false

    @Flag(help: "The secret of the keyring is an external secret, read byte for byte.")
    var external = false

    @Option(help: ArgumentHelp("Try only this slot of the keyring.", valueName: "number"))
    var slot: Int?

    @OptionGroup var fileFormat: FileFormatOptions

    @Flag(help: "Accept secret files that other users can read, for both keys.")
    var unsafePermissions = false

    var choice: SecretChoice {
        secret.choice(unsafePermissions: unsafePermissions, isRecovery: recovery, isExternal: external)
    }

    func validate() throws {
        try choice.checkKind()
        if keyring != nil, fileFormat.fileKdfIter != nil {
            throw ValidationError("--keyring and --file-kdf-iter exclude each other.")
        }
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
        try secret { try find(for: file).key }
    }

    /// The key that opens `file`, and for a retired one of the keyring the day on which another took its place.
    func find(for file: String) throws -> (key: DatabaseKey, retired: String?) {
        if let keyring {
            let found = try database(file).keyAndRetirement(in: unlock(Keyring(path: keyring), upgrades: false))
            return (try fileFormat.salted(found.key), found.retired)
        }
        try checkNoKeyring()
        return (try fileFormat.salted(choice.read(prompt: "Passphrase of \(file)")), nil)
    }

    /// The key of `file`, where options say where it comes from.
    func readIfGiven(for file: String) throws -> DatabaseKey? {
        if keyring != nil { return try find(for: file).key }
        try checkNoKeyring()
        return try choice.readIfGiven().map(fileFormat.salted)
    }

    /// The new secret that `options` name, which is another than this one.
    func choice(ofNew options: SecretOptions<NewSecret>, isExternal: Bool = false) throws -> SecretChoice {
        let new = options.choice(unsafePermissions: unsafePermissions, isExternal: isExternal)
        try choice.check(apartFrom: new)
        return new
    }

    /// Throws where `key` does not open `file`: nobody is asked for a new secret then.
    func prove(_ key: DatabaseKey, of file: String) throws {
        _ = try database(file).inspect(key: key)
    }

    private func checkNoKeyring() throws {
        guard !recovery, !external, slot == nil else {
            throw ValidationError("--recovery, --external and --slot need --keyring.")
        }
    }

    /// Unlocks a keyring, which is read before the passphrase prompt.
    ///
    /// - Parameter upgrades: Whether weak KDF parameters are upgraded: not by commands that only read.
    func unlock(_ keyring: Keyring, upgrades: Bool) throws -> UnlockedKeyring {
        _ = try keyring.content()
        let secret = try choice.readKeyringSecret(prompt: "for \(keyring.path)")
        return try keyring.unlock(secret, slot: slot, upgrades: upgrades)
    }

    /// The file, as these options describe it.
    func database(_ path: String) throws -> DatabaseFile { try fileFormat.database(path) }
}
