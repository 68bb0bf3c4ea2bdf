import ArgumentParser
import CipherDB

/// What a new slot is like.
struct SlotOptions: ParsableArguments {
    @OptionGroup var newKey: SecretOptions<NewSecret>
    @Flag(help: "The new secret is an external one, of 32 random bytes or more; it is read byte for byte.")
    var newExternal = false
    @Option(help: ArgumentHelp("How a new passphrase is stretched: \(KDFOption.names).", valueName: "function"))
    var stretch = KDFOption.scrypt
    @Option(
        help: ArgumentHelp(
            "Choose parameters by which the derivation takes about so long here, instead of a tenth or two of a second.",
            valueName: "number"
        )
    )
    var milliseconds: Int?

    func validate() throws {
        guard milliseconds.map((1...60_000).contains) ?? true else {
            throw ValidationError("--milliseconds is from 1 to 60000.")
        }
    }

    func secret(for keyring: Keyring, unsafePermissions: Bool) throws -> KeyringSecret {
        try newKey.choice(unsafePermissions: unsafePermissions, isExternal: newExternal)
            .readKeyringSecret(prompt: "for \(keyring.path)", confirmed: true)
    }

    func derivation() throws -> PassphraseDerivation {
        try stretch.derivation(milliseconds: milliseconds)
    }
}
