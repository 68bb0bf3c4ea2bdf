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

    /// The digits of the key that the database is under, or is to be made under.
    func exportKey(_ unlocked: UnlockedKeyring) throws -> SecretBytes {
        do {
            return try DatabaseFile(path: file).key(in: unlocked).exported()
        } catch FileProblem.missing {
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

/// What a new slot is like.
struct SlotOptions: ParsableArguments {
    @OptionGroup var newKey: NewKeyOptions
    @Flag(help: "The new secret is an external one, of 32 random bytes or more; it is read byte for byte.")
    var newExternal = false
    @Option(help: ArgumentHelp("How a new passphrase is stretched: \(Stretch.names).", valueName: "function"))
    var stretch = Stretch.scrypt
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

/// The functions that stretch passphrases.
enum Stretch: String, CaseIterable, ExpressibleByArgument {
    case scrypt
    case argon2id
    case pbkdf2SHA512 = "pbkdf2-sha512"
    case pbkdf2SHA256 = "pbkdf2-sha256"

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// With OWASP's parameters, or calibrated where a time is given.
    func derivation(milliseconds: Int?) throws -> PassphraseDerivation {
        if self == .scrypt, milliseconds == nil { return .standard }
        return try .calibrated(for: .milliseconds(milliseconds ?? 1), function)
    }

    var function: PassphraseDerivation.Function {
        switch self {
        case .pbkdf2SHA512: .pbkdf2SHA512(iterations: 1)
        case .pbkdf2SHA256: .pbkdf2SHA256(iterations: 1)
        case .scrypt: .scrypt(logCost: 1, blockSize: 8, parallelism: 1)
        case .argon2id: .argon2id(kibibytes: 8, passes: 1, lanes: 1)
        }
    }
}
