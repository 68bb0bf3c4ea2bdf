import ArgumentParser
import CipherDB

/// What a new slot is like.
struct SlotOptions: ParsableArguments {
    @OptionGroup(title: CommandHelp.newKeyOptions) var newKey: SecretOptions<NewSecret>
    @Flag(help: "The new secret is an external secret: 32 random bytes or more, read byte for byte.")
    var newExternal = false
    @Option(
        help: ArgumentHelp(
            "The slot keeps this command, which prints the new secret: an absolute path and arguments, which can be quoted. It is run without a shell.",
            valueName: "command"
        )
    )
    var command: String?
    @Option(
        help: ArgumentHelp("KDF of a new passphrase; argon2id needs OpenSSL 3.2. Default: scrypt.", valueName: "kdf")
    )
    var kdf: KDFOption?
    @Option(
        help: ArgumentHelp(
            "Choose KDF parameters that take about this time here, at most one second. Default: 0.1 to 0.2 seconds.",
            valueName: "number"
        )
    )
    var milliseconds: Int?

    func validate() throws {
        if command != nil, newExternal || newKey.choice(unsafePermissions: false).isGiven {
            throw ValidationError("--command excludes the options of other new secrets.")
        }
        guard milliseconds.map((1...60_000).contains) ?? true else {
            throw ValidationError("--milliseconds: give a number from 1 to 60000.")
        }
    }

    /// The new secret, which is another than the one of `key`.
    func secret(for keyring: Keyring, besides key: KeyOptions) throws -> KeyringSecret {
        if let command { return try .command(AllowedCommands([command]).commands[0]) }
        return try key.choice(ofNew: newKey, isExternal: newExternal)
            .readKeyringSecret(prompt: "for \(keyring.path)", confirmed: true)
    }

    func derivation() throws -> PassphraseDerivation {
        try (kdf ?? .scrypt).derivation(milliseconds: milliseconds)
    }

    /// Whether a slot is to be made again also for the secret that it has: for another KDF, or another command that prints it.
    var isMoreThanSecret: Bool { kdf != nil || milliseconds != nil || command != nil }
}
