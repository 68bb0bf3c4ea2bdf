import ArgumentParser
import CipherDB
import CipherKeys

/// Which of two things a group of options describes: the names of its options have a prefix for it.
protocol OptionRole {
    static var prefix: String { get }
}

extension OptionRole {
    static func name(_ name: String) -> NameSpecification { .customLong(prefix + name) }
}

/// What the options of one secret are called, and say.
protocol SecretRole: OptionRole {
    static var passphrase: String { get }
    static var descriptor: String { get }
    static var keyFileHelp: String { get }
}

/// The secret that opens the file, or the keyring, now.
enum PresentSecret: SecretRole {
    static let prefix = ""
    static let passphrase = "the passphrase"
    static let descriptor = "this open file descriptor"
    static let keyFileHelp = """
        Read a raw key from this file: 32 or 48 bytes (key, or key and salt), or 64 or 96 hexadecimal digits, also \
        as x'...' or 0x... and with spaces or line ends; - is standard input; for a keyring, 32 random bytes or more, read byte for byte.
        """
}

/// The secret that opens it after the command.
enum NewSecret: SecretRole {
    static let prefix = "new-"
    static let passphrase = "the new passphrase"
    static let descriptor = "this open file descriptor, not that of the old one"
    static let keyFileHelp = """
        Read a new raw key from this file, as of --key-file; with \
        --in-place a salt must be the file's own; for a keyring, 32 random bytes or more, read byte for byte.
        """
}

extension SecretRole {
    /// Of an option that takes the path of a file.
    fileprivate static var fileHelp: ArgumentHelp { help("this file: one line of text; - is standard input", "path") }

    fileprivate static func help(_ source: String, _ valueName: String) -> ArgumentHelp {
        ArgumentHelp("Read \(passphrase) from \(source).", valueName: valueName)
    }
}

/// Where a secret is read from.
struct SecretOptions<Role: SecretRole>: ParsableArguments {
    @Option(name: Role.name("passphrase-file"), help: Role.fileHelp, completion: .file())
    var passphraseFile: String?

    @Option(name: Role.name("passphrase-fd"), help: Role.help(Role.descriptor, "number"))
    var passphraseDescriptor: Int32?

    @Option(name: Role.name("passphrase-env"), help: Role.help("this environment variable", "name"))
    var passphraseVariable: String?

    @Option(
        name: Role.name("passphrase-command"),
        help: Role.help(
            "the output of this command, split at spaces (quotes have no effect) and run without a shell",
            "command"
        )
    )
    var passphraseCommand: String?

    @Option(name: Role.name("passphrase-credential"), help: Role.help("this systemd credential", "name"))
    var passphraseCredential: String?

    @Option(
        name: Role.name("passphrase-kernel-key"),
        help: Role.help("this key of the Linux kernel's keyring", "description")
    )
    var passphraseKernelKey: String?

    @Option(
        name: Role.name("key-file"),
        help: ArgumentHelp("\(Role.keyFileHelp)", valueName: "path"),
        completion: .file()
    )
    var keyFile: String?

    func validate() throws {
        if let passphraseVariable { try KeySource.withhold(environment: passphraseVariable) }
        try choice(unsafePermissions: false).checkCount(prefix: "--\(Role.prefix)")
    }

    /// - Parameter unsafePermissions: Whether files may be read that other users can read.
    func choice(unsafePermissions: Bool, isRecovery: Bool = false, isExternal: Bool = false) -> SecretChoice {
        let file = { SecretPath.source($0, unsafePermissions: unsafePermissions) }
        return SecretChoice(
            passphrases: [
                passphraseFile.map(file),
                passphraseDescriptor.map { .descriptor($0) },
                passphraseVariable.map { .environment($0) },
                passphraseCommand.map { .command($0.split(separator: " ").map(String.init)) },
                passphraseCredential.map { .credential($0) },
                passphraseKernelKey.map { .kernelKeyring(description: $0) },
            ].compactMap { $0 },
            keyFile: keyFile.map(file),
            isRecovery: isRecovery,
            isExternal: isExternal
        )
    }
}

/// The path of a file with a secret as it was typed: `-` and the names of open descriptors stand for those.
enum SecretPath {
    /// - Parameter unsafePermissions: Whether a file may be read that other users can read.
    static func source(_ path: String, unsafePermissions: Bool) -> KeySource {
        // What is open already was opened by the caller, with permissions of its own.
        if let descriptor = descriptor(path) { return .descriptor(descriptor) }
        return unsafePermissions ? .unsafeFile(path: path) : .file(path: path)
    }

    private static func descriptor(_ path: String) -> Int32? {
        if ["-", "/dev/stdin"].contains(path) { return 0 }
        for directory in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(directory) {
            return Int32(path.dropFirst(directory.count))
        }
        return nil
    }
}
