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
    /// Reads a passphrase: one line of text, without the line ending that editors and `echo` leave behind it; or bytes that are no
    /// text, as they are but for such an ending.
    ///
    /// - Throws: what the source throws, or ``MalformedKey`` for an empty or too long one, for more lines, and for a byte order mark.
    public func readPassphrase() throws -> DatabaseKey { try read().asPassphrase() }

    /// Reads a raw key: 32 or 48 bytes as they are, or 64 or 96 hexadecimal digits, in SQLCipher's `x'…'`, behind
    /// `0x`, or alone, with white space anywhere.
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
    fileprivate func asPassphrase() throws -> DatabaseKey { try .passphrase(line()) }

    fileprivate func asRawKey() throws -> DatabaseKey {
        switch count {
        case CipherFormat.keySize: try .raw(self)
        case CipherFormat.keySize + CipherFormat.saltSize: try .rawWithSalt(self)
        default: try .raw(spelled: self)
        }
    }

    fileprivate func asKeyringSecret(_ kind: KeyringSecret.Kind) throws -> KeyringSecret {
        switch kind {
        case .passphrase: try .passphrase(line())
        case .recoveryCode: .recoveryCode(try RecoveryCode(typed: self))
        case .keyFile: try .keyFile(self)
        case .external, .command: try .external(self)
        }
    }

    /// The line that the secret is, without its ending.
    private func line() throws -> SecretBytes {
        let line = try withoutLineEnding()
        try line.withUnsafeBytes { bytes in
            let isUTF16 =
                bytes.count > 3
                && (bytes.starts(with: [0xFF, 0xFE]) && bytes[3] == 0
                    || bytes.starts(with: [0xFE, 0xFF]) && bytes[2] == 0)
            if isUTF16 || bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw MalformedKey.byteOrderMark }
            guard bytes.contains(where: { [0x0A, 0x0D].contains($0) }), SecretText.isText(bytes) else { return }
            throw MalformedKey.severalLines
        }
        return line
    }

    private func withoutLineEnding() throws -> SecretBytes {
        let length = try withUnsafeBytes { bytes in
            guard bytes.last == UInt8(ascii: "\n") else { return bytes.count }
            return bytes.dropLast().last == UInt8(ascii: "\r") ? bytes.count - 2 : bytes.count - 1
        }
        return try prefix(length)
    }
}
