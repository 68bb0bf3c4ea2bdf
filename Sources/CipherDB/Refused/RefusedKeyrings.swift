public import CipherKeys

// Passphrases where a keyring wants a secret, and calls that are named after passphrases: the compiler says what to write instead.

extension DatabaseQueue {
    /// Not there: see ``init(path:keyring:unlockedBy:slot:configuration:flags:)``.
    @available(*, unavailable, message: "a passphrase of a keyring is unlockedBy: .passphrase(text)")
    public convenience init(path: String, keyring: Keyring, passphrase: String) throws { fatalError("unavailable") }
}

extension DatabasePool {
    /// Not there: see ``init(path:keyring:unlockedBy:slot:configuration:flags:)``.
    @available(*, unavailable, message: "a passphrase of a keyring is unlockedBy: .passphrase(text)")
    public convenience init(path: String, keyring: Keyring, passphrase: String) throws { fatalError("unavailable") }
}

extension Keyring {
    /// Not there: see `create(with:label:derivation:)`.
    @available(*, unavailable, message: "a secret has its kind: create(with: .passphrase(text))")
    public func create(passphrase: String, label: String = "") throws -> UnlockedKeyring { fatalError("unavailable") }

    /// Not there: see `unlock(_:slot:upgrades:)`.
    @available(*, unavailable, message: "a secret has its kind: unlock(.passphrase(text))")
    public func unlock(passphrase: String) throws -> UnlockedKeyring { fatalError("unavailable") }
}

extension DatabaseWriter {
    /// Not there: see ``rekey(_:)``.
    @available(
        *,
        unavailable,
        message: "another passphrase is rekey(.passphrase(text)), or with a keyring its change(slot:to:)"
    )
    public func changePassphrase(_ passphrase: String) throws { fatalError("unavailable") }
}

extension DatabaseReader {
    /// Not there: see `backup(to:key:)`.
    @available(*, unavailable, message: "the key of the copy is key: .passphrase(text)")
    public func backup(to path: String, passphrase: String) throws { fatalError("unavailable") }
}
