/// A source of a secret. ``KeySource`` has the sources of every system; this is for others: a key service, a hardware
/// token, a window that asks.
public protocol SecretSource {
    /// Reads the secret, byte for byte.
    func read() throws -> SecretBytes
}

/// A source of a secret that is read asynchronously. A ``SecretSource`` is asked without waiting by its own functions.
public protocol AsyncSecretSource {
    /// Reads the secret, byte for byte.
    func read() async throws -> SecretBytes
}

extension KeySource: SecretSource {}

extension SecretSource {
    /// Reads a passphrase: the bytes, without the one line ending that editors and `echo` leave behind them.
    ///
    /// - Throws: what the source throws, or ``MalformedKey`` for an empty or too long one.
    public func readPassphrase() throws -> DatabaseKey { try read().asPassphrase() }

    /// Reads a raw key: 32 or 48 bytes as they are, or 64 or 96 hexadecimal digits, in SQLCipher's `x'…'` or without, and perhaps a
    /// line ending.
    ///
    /// - Throws: what the source throws, or ``MalformedKey`` for anything else.
    public func readRawKey() throws -> DatabaseKey { try read().asRawKey() }

    /// Reads what opens a keyring's slot of this kind: a passphrase or a recovery code as typed, others byte for byte.
    ///
    /// - Throws: what the source throws, or ``MalformedKey``.
    public func readKeyringSecret(_ kind: KeyringSecret.Kind) throws -> KeyringSecret {
        try read().asKeyringSecret(kind)
    }
}

extension AsyncSecretSource {
    /// As ``SecretSource/readPassphrase()``.
    public func readPassphrase() async throws -> DatabaseKey { try await read().asPassphrase() }

    /// As ``SecretSource/readRawKey()``.
    public func readRawKey() async throws -> DatabaseKey { try await read().asRawKey() }

    /// As ``SecretSource/readKeyringSecret(_:)``.
    public func readKeyringSecret(_ kind: KeyringSecret.Kind) async throws -> KeyringSecret {
        try await read().asKeyringSecret(kind)
    }
}

extension SecretBytes {
    fileprivate func asPassphrase() throws -> DatabaseKey { try .passphrase(withoutLineEnding()) }

    fileprivate func asRawKey() throws -> DatabaseKey {
        switch count {
        case CipherFormat.keySize: try .raw(self)
        case CipherFormat.keySize + CipherFormat.saltSize: try .rawWithSalt(self)
        default: try .raw(spelled: withoutLineEnding())
        }
    }

    fileprivate func asKeyringSecret(_ kind: KeyringSecret.Kind) throws -> KeyringSecret {
        switch kind {
        case .passphrase: try .passphrase(withoutLineEnding())
        case .recoveryCode: .recoveryCode(try RecoveryCode(typed: self))
        case .keyFile: try .keyFile(self)
        case .external, .command: try .external(self)
        }
    }

    private func withoutLineEnding() throws -> SecretBytes {
        let length = withUnsafeBytes { bytes in
            guard bytes.last == UInt8(ascii: "\n") else { return bytes.count }
            return bytes.dropLast().last == UInt8(ascii: "\r") ? bytes.count - 2 : bytes.count - 1
        }
        return try prefix(length)
    }
}
