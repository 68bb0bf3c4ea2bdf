import ArgumentParser
import CipherDB
import Rekeying

/// Where the key of the file comes from.
struct KeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passphrase from this file, without its line ending.", valueName: "path"))
    var passphraseFile: String?

    @Option(help: ArgumentHelp("Read the passphrase from this open descriptor, to its end.", valueName: "number"))
    var passphraseFd: Int32?

    @Option(help: ArgumentHelp("Read the passphrase from this environment variable.", valueName: "name"))
    var passphraseEnv: String?

    @Option(
        help: ArgumentHelp(
            "Read a raw key from this file: 32 bytes, 48 with the salt, or as many hexadecimal digits.",
            valueName: "path"
        )
    )
    var keyFile: String?

    @Flag(help: "Accept files of secrets that other users can read, for both keys.")
    var unsafePermissions = false

    var choice: KeyChoice {
        KeyChoice(
            passphraseFile: passphraseFile,
            passphraseFd: passphraseFd,
            passphraseEnv: passphraseEnv,
            keyFile: keyFile,
            unsafePermissions: unsafePermissions
        )
    }

    func validate() throws { try choice.validate(prefix: "--") }
}

/// Where the new key comes from.
struct NewKeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new passphrase from this file, without its line ending.", valueName: "path"))
    var newPassphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "Read the new passphrase from this open descriptor, another than that of the old.",
            valueName: "number"
        )
    )
    var newPassphraseFd: Int32?

    @Option(help: ArgumentHelp("Read the new passphrase from this environment variable.", valueName: "name"))
    var newPassphraseEnv: String?

    @Option(
        help: ArgumentHelp(
            "Read a new raw key from this file: 32 bytes, or 64 hexadecimal digits; not in place, also 48 or 96.",
            valueName: "path"
        )
    )
    var newKeyFile: String?

    func choice(unsafePermissions: Bool) -> KeyChoice {
        KeyChoice(
            passphraseFile: newPassphraseFile,
            passphraseFd: newPassphraseFd,
            passphraseEnv: newPassphraseEnv,
            keyFile: newKeyFile,
            unsafePermissions: unsafePermissions
        )
    }

    func validate() throws { try choice(unsafePermissions: false).validate(prefix: "--new-") }
}

/// One source out of those that the options offer, or none: then the terminal.
struct KeyChoice {
    let passphraseFile: String?
    let passphraseFd: Int32?
    let passphraseEnv: String?
    let keyFile: String?
    let unsafePermissions: Bool

    private var count: Int {
        [passphraseFile != nil, passphraseFd != nil, passphraseEnv != nil, keyFile != nil].count { $0 }
    }

    var isGiven: Bool { count > 0 }

    func validate(prefix: String) throws {
        guard count <= 1 else {
            throw ValidationError(
                "Give one of \(prefix)passphrase-file, \(prefix)passphrase-fd, \(prefix)passphrase-env, \(prefix)key-file."
            )
        }
    }

    func read(prompt: String, confirmed: Bool = false) throws -> DatabaseKey {
        if let keyFile { return try file(keyFile).readRawKey() }
        if let passphraseFile { return try file(passphraseFile).readPassphrase() }
        if let passphraseFd { return try KeySource.descriptor(passphraseFd).readPassphrase() }
        if let passphraseEnv { return try KeySource.environment(passphraseEnv).readPassphrase() }
        return try KeySource.prompt(prompt, confirmed: confirmed).readPassphrase()
    }

    /// The key of `file`, which is looked at before anybody is asked for a secret that would not help. `secret` has it from
    /// the first file on.
    func readKey(of file: String, _ secret: Once<DatabaseKey>) throws -> DatabaseKey {
        switch try DatabaseFile(path: file).inspect().kind {
        case .plaintext: throw KeyError.notEncrypted
        case .empty: throw KeyError.notADatabase
        case .encrypted, .notADatabase: return try secret { try read(prompt: "Passphrase of \(file)") }
        }
    }

    private func file(_ path: String) -> KeySource {
        unsafePermissions ? .unsafeFile(path: path) : .file(path: path)
    }
}
