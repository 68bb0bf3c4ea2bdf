import ArgumentParser
import CipherDB
import Foundation

/// A password vault for the terminal: what a small program with CipherDB looks like.
@main
struct Vault: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Keeps passwords in an encrypted database.",
        subcommands: [
            Create.self, Add.self, List.self, Show.self, Remove.self, ChangePassphrase.self, MakeRecoveryCode.self,
            Recover.self,
        ]
    )
}

/// Where the vault is, and where its passphrase comes from.
struct VaultOptions: ParsableArguments {
    @Option(help: "The vault; its keyring stands beside it.")
    var vault = "vault.db"
    @Option(help: "A file with the passphrase, instead of asking for it.")
    var passphraseFile: String?

    var keyring: Keyring { Keyring(besideDatabase: vault) }

    func passphrase(isNew: Bool = false) throws -> KeyringSecret {
        try source(passphraseFile, "Passphrase: ", isNew: isNew).readKeyringSecret(.passphrase)
    }

    func open() throws -> VaultStore {
        try VaultStore(path: vault, keyring: keyring.unlock(passphrase()))
    }
}

/// A secret from a file, or from somebody at the terminal.
func source(_ file: String?, _ prompt: String, isNew: Bool = false) -> KeySource {
    file.map { .file(path: $0) } ?? .prompt(prompt, confirmed: isNew)
}

struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Makes a new vault.")
    @OptionGroup var options: VaultOptions

    func run() throws {
        guard !FileManager.default.fileExists(atPath: options.vault) else {
            throw ValidationError("\(options.vault) is there already.")
        }
        let keyring = try options.keyring.create(with: options.passphrase(isNew: true), label: "owner")
        _ = try VaultStore(path: options.vault, keyring: keyring)
        print("\(options.vault) is made; without its keyring, \(options.keyring.path), nobody can open it")
    }
}

struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds a password.")
    @OptionGroup var options: VaultOptions
    @Argument(help: "What it is for.") var name: String
    @Argument(help: "The name of the user there.") var user: String
    @Option(help: "What else is to be known.") var note: String?
    @Option(help: "A file with the password, instead of asking for it.") var secretFile: String?

    func run() throws {
        let store = try options.open()
        let secret = try source(secretFile, "Password for \(name): ").read().withUnsafeBytes { Data($0) }
        try store.add(VaultStore.Entry(name: name, user: user, secret: secret, note: note))
        print("added \(name)")
    }
}

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists what is there, without the passwords.")
    @OptionGroup var options: VaultOptions
    @Option(help: "Only what has this word in it.") var search: String?

    func run() throws {
        for entry in try options.open().entries(with: search) {
            print("\(entry.name)\t\(entry.user)\(entry.note.map { "\t\($0)" } ?? "")")
        }
    }
}

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints a password.")
    @OptionGroup var options: VaultOptions
    @Argument var name: String

    func run() throws {
        guard let entry = try options.open().entry(named: name) else { throw NoEntry(name: name) }
        print(String(decoding: entry.secret, as: UTF8.self))
    }
}

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Removes a password.")
    @OptionGroup var options: VaultOptions
    @Argument var name: String

    func run() throws {
        guard try options.open().remove(name) else { throw NoEntry(name: name) }
        print("removed \(name)")
    }
}

struct NoEntry: Error, CustomStringConvertible {
    let name: String
    var description: String { "there is no \(name)" }
}

struct ChangePassphrase: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Changes the passphrase. The database is not rewritten.")
    @OptionGroup var options: VaultOptions
    @Option(help: "A file with the new passphrase, instead of asking for it.") var newPassphraseFile: String?

    func run() throws {
        let new = try source(newPassphraseFile, "New passphrase: ", isNew: true).readKeyringSecret(.passphrase)
        try options.keyring.change(options.passphrase(), to: new)
        print("the passphrase is changed")
    }
}

struct MakeRecoveryCode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-code",
        abstract: "Prints a code that opens the vault when the passphrase is lost, and counts when it was typed back."
    )
    @OptionGroup var options: VaultOptions
    @Option(help: "A descriptor to read it back from, instead of asking for it.") var typedFd: Int32?

    func run() throws {
        let keyring = try options.keyring.unlock(options.passphrase())
        let code = try RecoveryCode.random()
        try print(code.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        // Also where it is no terminal that it is printed to.
        fflush(nil)
        let typed =
            try typedFd.map { KeySource.descriptor($0) } ?? .prompt("Write it down, and type it: ", confirmed: false)
        try keyring.add(code, typedBack: RecoveryCode(typed: typed.read()), label: "recovery")
        print("it opens the vault from now on")
    }
}

struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Gives the vault a new passphrase, by its recovery code.")
    @OptionGroup var options: VaultOptions
    @Option(help: "A file with the recovery code, instead of asking for it.") var codeFile: String?

    func run() throws {
        let code = try RecoveryCode(typed: source(codeFile, "Recovery code: ").read())
        let keyring = try options.keyring.unlock(.recoveryCode(code))
        let slot = try keyring.add(options.passphrase(isNew: true), label: "recovered")
        for other in try keyring.content().slots where other.kind == .passphrase && other.number != slot {
            try keyring.remove(slot: other.number)
        }
        print("the vault has a new passphrase; the old one does not open it any more")
    }
}
