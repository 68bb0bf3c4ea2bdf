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
            "Read the passphrase from what this command prints, split at spaces and run without a shell.",
            valueName: "command"
        )
    )
    var passphraseCommand: String?

    @Option(help: ArgumentHelp("Read the passphrase from this credential of systemd's.", valueName: "name"))
    var passphraseCredential: String?

    @Option(help: ArgumentHelp("Read the passphrase from this key of the Linux kernel's.", valueName: "description"))
    var passphraseKeyring: String?

    @Option(
        help: ArgumentHelp(
            "Read a raw key from this file: 32 bytes, 48 with the salt, or as many hexadecimal digits.",
            valueName: "path"
        )
    )
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations that the file was made with, where they are not its format's own.",
            valueName: "number"
        )
    )
    var fileKdfIter: Int?

    @Flag(help: "Accept files of secrets that other users can read, for both keys.")
    var unsafePermissions = false

    var choice: KeyChoice {
        KeyChoice(
            passphrases: [
                passphraseFile.map { KeySource.file($0, isUnsafe: unsafePermissions) },
                passphraseFd.map { .descriptor($0) },
                passphraseEnv.map { .environment($0) },
                passphraseCommand.map { .command($0.split(separator: " ").map(String.init)) },
                passphraseCredential.map { .credential($0) },
                passphraseKeyring.map { .kernelKeyring(description: $0) },
            ].compactMap { $0 },
            rawKey: keyFile.map { .file($0, isUnsafe: unsafePermissions) }
        )
    }

    func validate() throws { try choice.validate(prefix: "--") }

    /// The file, as these options describe it.
    func database(_ path: String) -> DatabaseFile {
        var database = DatabaseFile(path: path)
        database.iterations = fileKdfIter
        return database
    }
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
            "Read the new passphrase from what this command prints, split at spaces and run without a shell.",
            valueName: "command"
        )
    )
    var newPassphraseCommand: String?

    @Option(help: ArgumentHelp("Read the new passphrase from this credential of systemd's.", valueName: "name"))
    var newPassphraseCredential: String?

    @Option(
        help: ArgumentHelp("Read the new passphrase from this key of the Linux kernel's.", valueName: "description")
    )
    var newPassphraseKeyring: String?

    @Option(
        help: ArgumentHelp(
            "Read a new raw key from this file: 32 bytes, or 64 hexadecimal digits; not in place, also 48 or 96.",
            valueName: "path"
        )
    )
    var newKeyFile: String?

    func choice(unsafePermissions: Bool) -> KeyChoice {
        KeyChoice(
            passphrases: [
                newPassphraseFile.map { KeySource.file($0, isUnsafe: unsafePermissions) },
                newPassphraseFd.map { .descriptor($0) },
                newPassphraseEnv.map { .environment($0) },
                newPassphraseCommand.map { .command($0.split(separator: " ").map(String.init)) },
                newPassphraseCredential.map { .credential($0) },
                newPassphraseKeyring.map { .kernelKeyring(description: $0) },
            ].compactMap { $0 },
            rawKey: newKeyFile.map { .file($0, isUnsafe: unsafePermissions) }
        )
    }

    func validate() throws { try choice(unsafePermissions: false).validate(prefix: "--new-") }
}

/// One source out of those that the options offer, or none: then the terminal.
struct KeyChoice {
    let passphrases: [KeySource]
    let rawKey: KeySource?

    private var count: Int { passphrases.count + (rawKey == nil ? 0 : 1) }

    var isGiven: Bool { count > 0 }

    func validate(prefix: String) throws {
        guard count <= 1 else {
            throw ValidationError("Give one of the options \(prefix)passphrase-… and \(prefix)key-file.")
        }
    }

    func read(prompt: String, confirmed: Bool = false) throws -> DatabaseKey {
        if let rawKey { return try rawKey.readRawKey() }
        return try (passphrases.first ?? .prompt(prompt, confirmed: confirmed)).readPassphrase()
    }

    /// The key, where its options are given.
    func readIfGiven() throws -> DatabaseKey? { isGiven ? try read(prompt: "") : nil }

    /// The key of `file`, which is looked at before anybody is asked for a secret that would not help. `secret` has it from
    /// the first file on.
    func readKey(of file: String, _ secret: Once<DatabaseKey>) throws -> DatabaseKey {
        switch try DatabaseFile(path: file).inspect().kind {
        case .plaintext: throw KeyError.notEncrypted
        case .empty: throw KeyError.notADatabase
        case .encrypted, .notADatabase: return try secret { try read(prompt: "Passphrase of \(file)") }
        }
    }
}

extension KeySource {
    fileprivate static func file(_ path: String, isUnsafe: Bool) -> KeySource {
        isUnsafe ? .unsafeFile(path: path) : .file(path: path)
    }
}
