import ArgumentParser
import CipherDB
import CipherKeys
internal import CipherSystem
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

    @Option(
        help: ArgumentHelp(
            "Run this command, if a slot of the keyring has it, for the secret; give the text that `rekey keyring list` prints. Can be repeated.",
            valueName: "command"
        )
    )
    var allowCommand: [String] = []

    @OptionGroup var fileFormat: FileFormatOptions

    @Flag(help: "Accept secret files that other users can read, for both keys.")
    var unsafePermissions = false

    /// Whether options say where the secret comes from.
    var isGiven: Bool { choice.isGiven || recovery || external || !allowCommand.isEmpty }

    /// Whether options name a key: those of a secret, or a keyring, whose secret may be asked for.
    var namesKey: Bool { keyring != nil || choice.isGiven }

    /// The keyring to look at without a secret: the one that the options name, or one beside `file`.
    func keyringToRead(for file: String) -> Keyring? {
        if let keyring { return Keyring(path: keyring) }
        let keyring = Keyring(besideDatabase: file)
        return (try? Platform.status(of: keyring.path)) == nil ? nil : keyring
    }

    var choice: SecretChoice {
        secret.choice(unsafePermissions: unsafePermissions, isRecovery: recovery, isExternal: external)
    }

    func validate() throws {
        try choice.checkKind()
        if !allowCommand.isEmpty, choice.isGiven || recovery || external {
            throw ValidationError("--allow-command excludes the options of other secrets.")
        }
        if keyring != nil, fileFormat.fileKdfIter != nil {
            throw ValidationError("--keyring and --file-kdf-iter exclude each other.")
        }
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

    /// Throws where options need a keyring, and none is given.
    func checkNoKeyring() throws {
        guard !recovery, !external, slot == nil, allowCommand.isEmpty else {
            throw ValidationError("--recovery, --external, --slot and --allow-command need --keyring.")
        }
    }

    /// Unlocks a keyring, which is read before the passphrase prompt.
    ///
    /// - Parameter upgrades: Whether weak KDF parameters are upgraded: not by commands that only read.
    func unlock(_ keyring: Keyring, upgrades: Bool) throws -> UnlockedKeyring {
        try unlock(keyring, upgrades: upgrades) { try $0(keyring) }
    }

    /// Unlocks the keyring that was stored with a generation, or the newest, in memory: an end at the prompt leaves nothing.
    func unlockKeyring(of repository: BackupRepository, for generation: GenerationChoice?) throws -> UnlockedKeyring {
        try unlock(repository.newestKeyring(for: generation), upgrades: false) {
            try repository.unlockKeyring(for: generation, $0)
        }
    }

    /// - Parameters:
    ///   - keyring: The one to ask about.
    ///   - body: Calls its argument with the keyrings that may be unlocked by the answer.
    private func unlock(
        _ keyring: Keyring,
        upgrades: Bool,
        _ body: ((Keyring) throws -> UnlockedKeyring) throws -> UnlockedKeyring
    ) throws -> UnlockedKeyring {
        let content = try keyring.content()
        let commands = try AllowedCommands(allowCommand)
        if isGiven ? !allowCommand.isEmpty : try commands.ask(content, slot: slot, keyring.path) {
            return try body { try commands.unlock($0, slot: slot) }
        }
        return try TypedSecret.ask(isTyped: !choice.isGiven) { _ in
            let secret = try choice.readKeyringSecret(prompt: "for \(keyring.path)")
            do {
                return try body { try $0.unlock(secret, slot: slot, upgrades: upgrades) }
            } catch let error as KeyringError
                where error.code == .wrongSecret && secret.isRecoveryCodeAsPassphrase
            {
                let hint = "this is a recovery code, which needs --recovery"
                Output.tellLine("rekey: \(keyring.path): \(hint)", clearing: true)
                throw error
            }
        }
    }

    /// The file, as these options describe it.
    func database(_ path: String) throws -> DatabaseFile { try fileFormat.database(path) }
}

/// The commands of a keyring's slots that the user allows, by an option or at the terminal.
final class AllowedCommands {
    private(set) var commands: [SecretCommand]

    init(_ texts: [String]) throws {
        commands = try texts.map { try SecretCommand($0) }
    }

    /// Asks at the terminal about each command of the slots until one is allowed; false where none is, or no slot has one.
    ///
    /// - Throws: `KeyringError.commandNotAllowed` where nobody can be asked, not for a passphrase either.
    func ask(_ content: KeyringContent, slot number: Int?, _ path: String) throws -> Bool {
        for slot in content.slots where number == nil || slot.number == number {
            guard let command = slot.command else { continue }
            let question = """
                \(path), \(KeyringList.name(slot.number, Output.visible(slot.label))), has a command that prints its secret:
                  \(command)
                The keyring is not verified yet. Type yes to run the command, or press Return for another secret
                """
            guard let isAllowed = try Terminal.confirm(question) else {
                throw KeyringError(.commandNotAllowed, path: path, slots: [slot.number], command: command)
            }
            if isAllowed {
                commands.append(command)
                return true
            }
        }
        return false
    }

    /// Unlocks the keyring by the commands that are allowed, each of which is shown before it is run.
    func unlock(_ keyring: Keyring, slot number: Int?) throws -> UnlockedKeyring {
        for slot in try keyring.content().slots where number == nil || slot.number == number {
            if let command = slot.command, commands.contains(command) {
                Output.tell("rekey: \(KeyringList.name(slot.number, slot.label)) runs \(command)\n")
            }
        }
        return try keyring.unlock(allowing: commands, slot: number)
    }
}
