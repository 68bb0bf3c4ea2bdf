/// A secret that opens a slot of a keyring.
public struct KeyringSecret: Sendable {
    /// The kinds of secret, and of slots.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// A passphrase, which is derived by a KDF.
        case passphrase = 1
        /// A recovery code that this library made.
        case recoveryCode = 2
        /// The content of a file, byte for byte.
        case keyFile = 3
        /// A secret that a machine keeps: a key service, a security module, a password store.
        case external = 4
        /// The output of a command that the slot names.
        case command = 5
    }

    /// Its kind.
    public let kind: Kind
    let bytes: SecretBytes
    /// The command that printed it, for a slot that keeps it.
    private(set) var command: SecretCommand?
    /// Whether it is a recovery code that nobody may have on paper: no slot gets it.
    private(set) var isUntypedCode = false

    /// A passphrase of 1 to 1,048,576 bytes; not normalised.
    ///
    /// - Throws: ``MalformedKey`` when it is empty or too long.
    public static func passphrase(_ bytes: SecretBytes) throws -> KeyringSecret {
        try MalformedKey.check(passphrase: bytes)
        return KeyringSecret(kind: .passphrase, bytes: bytes)
    }

    /// The UTF-8 bytes of `text` as a passphrase. A `String` cannot be wiped; see ``SecretBytes/init(utf8:)``.
    ///
    /// - Throws: ``MalformedKey`` when it is empty or too long.
    public static func passphrase(_ text: String) throws -> KeyringSecret {
        try passphrase(SecretBytes(utf8: text))
    }

    /// A recovery code. A slot gets it only where it was typed (``RecoveryCode/init(typed:)-(String)``).
    public static func recoveryCode(_ code: RecoveryCode) -> KeyringSecret {
        KeyringSecret(kind: .recoveryCode, bytes: code.bytes, isUntypedCode: !code.isTyped)
    }

    /// The content of a key file, from 32 bytes to a mebibyte. It has no KDF, so it must be random.
    ///
    /// - Throws: ``MalformedKey/secretTooShort(count:)``, ``MalformedKey/passphraseTooLong(count:)``.
    public static func keyFile(_ content: SecretBytes) throws -> KeyringSecret {
        KeyringSecret(kind: .keyFile, bytes: try checked(content))
    }

    /// A secret that a machine keeps, from 32 bytes to a mebibyte. It has no KDF, so it must be random.
    ///
    /// - Throws: as ``keyFile(_:)``.
    public static func external(_ secret: SecretBytes) throws -> KeyringSecret {
        KeyringSecret(kind: .external, bytes: try checked(secret))
    }

    /// The output of `command`, which is run: from 32 bytes to a mebibyte, byte for byte. It has no KDF, so it must be random.
    ///
    /// - Throws: ``KeySourceError``; as ``keyFile(_:)``.
    public static func command(_ command: SecretCommand) throws -> KeyringSecret {
        KeyringSecret(kind: .command, bytes: try checked(command.read()), command: command)
    }

    /// Whether it is a recovery code, and was given as a passphrase.
    package var isRecoveryCodeAsPassphrase: Bool { kind == .passphrase && (try? RecoveryCode(typed: bytes)) != nil }

    private static func checked(_ secret: SecretBytes) throws -> SecretBytes {
        let count = try secret.withUnsafeBytes(\.count)
        guard count >= 32 else { throw MalformedKey.secretTooShort(count: count) }
        guard count <= MalformedKey.longestPassphrase else { throw MalformedKey.passphraseTooLong(count: count) }
        return secret
    }
}

extension KeyringSecret: Redacted {
    /// The kind of secret and nothing of its bytes.
    public var description: String { "KeyringSecret(\(kind), redacted)" }
}

extension KeyringSecret.Kind: CustomStringConvertible {
    /// In words.
    public var description: String {
        switch self {
        case .passphrase: "passphrase"
        case .recoveryCode: "recovery code"
        case .keyFile: "key file"
        case .external: "external secret"
        case .command: "command"
        }
    }
}
