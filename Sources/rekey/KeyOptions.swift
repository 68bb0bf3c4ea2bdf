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
    var passphraseKernelKey: String?

    @Option(
        help: ArgumentHelp(
            """
            Read a raw key from this file: 32 bytes, 48 with the salt, or as many hexadecimal digits; for a keyring a secret \
            of 32 random bytes or more, byte for byte.
            """,
            valueName: "path"
        )
    )
    var keyFile: String?

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

    var choice: KeyChoice {
        KeyChoice(
            passphrases: [
                passphraseFile.map { KeySource.file($0, isUnsafe: unsafePermissions) },
                passphraseFd.map { .descriptor($0) },
                passphraseEnv.map { .environment($0) },
                passphraseCommand.map { .command($0.split(separator: " ").map(String.init)) },
                passphraseCredential.map { .credential($0) },
                passphraseKernelKey.map { .kernelKeyring(description: $0) },
            ].compactMap { $0 },
            file: keyFile.map { .file($0, isUnsafe: unsafePermissions) },
            isRecovery: recovery,
            isExternal: external
        )
    }

    func validate() throws {
        if let passphraseEnv { KeySource.withhold(environment: passphraseEnv) }
        try choice.validate(prefix: "--")
        if keyring != nil, fileKdfIter != nil { throw ValidationError("A keyring's key needs no iterations.") }
    }

    /// The key that opens `file`, which is looked at before anybody is asked for a secret that would not help. `secret` has it
    /// from the first file on.
    func read(for file: String, _ secret: Once<DatabaseKey>) throws -> DatabaseKey {
        switch try DatabaseFile(path: file).inspect().kind {
        case .plaintext: throw KeyError.notEncrypted
        case .empty: throw KeyError.notADatabase
        case .encrypted, .notADatabase:
            return try secret {
                if let keyring {
                    return try DatabaseFile(path: file).key(in: unlock(Keyring(path: keyring), upgrades: false))
                }
                try checkNoKeyring()
                return try choice.read(prompt: "Passphrase of \(file)")
            }
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
    var newPassphraseKernelKey: String?

    @Option(
        help: ArgumentHelp(
            """
            Read a new raw key from this file: 32 bytes, or 64 hexadecimal digits; not in place, also 48 or 96; for a \
            keyring a secret of 32 random bytes or more, byte for byte.
            """,
            valueName: "path"
        )
    )
    var newKeyFile: String?

    func choice(unsafePermissions: Bool, isExternal: Bool = false) -> KeyChoice {
        KeyChoice(
            passphrases: [
                newPassphraseFile.map { KeySource.file($0, isUnsafe: unsafePermissions) },
                newPassphraseFd.map { .descriptor($0) },
                newPassphraseEnv.map { .environment($0) },
                newPassphraseCommand.map { .command($0.split(separator: " ").map(String.init)) },
                newPassphraseCredential.map { .credential($0) },
                newPassphraseKernelKey.map { .kernelKeyring(description: $0) },
            ].compactMap { $0 },
            file: newKeyFile.map { .file($0, isUnsafe: unsafePermissions) },
            isRecovery: false,
            isExternal: isExternal
        )
    }

    func validate() throws {
        if let newPassphraseEnv { KeySource.withhold(environment: newPassphraseEnv) }
        try choice(unsafePermissions: false).validate(prefix: "--new-")
    }
}

/// One source out of those that the options offer, or none: then the terminal.
struct KeyChoice {
    let passphrases: [KeySource]
    /// A raw key, or the key file of a keyring.
    let file: KeySource?
    let isRecovery: Bool
    let isExternal: Bool

    private var count: Int { passphrases.count + (file == nil ? 0 : 1) }

    var isGiven: Bool { count > 0 }

    func validate(prefix: String) throws {
        guard count <= 1 else {
            throw ValidationError("Give one of the options \(prefix)passphrase-… and \(prefix)key-file.")
        }
        guard !isRecovery || !isExternal && file == nil else {
            throw ValidationError("A recovery code is neither an external secret nor the content of a key file.")
        }
    }

    func read(prompt: String, confirmed: Bool = false) throws -> DatabaseKey {
        if let file { return try file.readRawKey() }
        return try (passphrases.first ?? .prompt(prompt, confirmed: confirmed)).readPassphrase()
    }

    /// The key, where its options are given.
    func readIfGiven() throws -> DatabaseKey? { isGiven ? try read(prompt: "") : nil }

    /// The same as what opens a slot of a keyring.
    func readKeyringSecret(prompt: String, confirmed: Bool = false) throws -> KeyringSecret {
        let kind: KeyringSecret.Kind =
            if isRecovery { .recoveryCode } else if isExternal { .external } else if file != nil { .keyFile } else {
                .passphrase
            }
        let name = kind == .recoveryCode ? "Recovery code" : confirmed ? "New passphrase" : "Passphrase"
        let source = file ?? passphrases.first ?? .prompt("\(name) \(prompt)", confirmed: confirmed)
        return try source.readKeyringSecret(kind)
    }
}

extension KeySource {
    fileprivate static func file(_ path: String, isUnsafe: Bool) -> KeySource {
        isUnsafe ? .unsafeFile(path: path) : .file(path: path)
    }
}
