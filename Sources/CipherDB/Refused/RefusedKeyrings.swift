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

    /// Not there: see `slots()`.
    @available(*, unavailable, renamed: "slots()")
    public func entries() throws -> [KeyringSlot] { fatalError("unavailable") }

    /// Not there: see ``UnlockedKeyring``.
    @available(*, unavailable, message: "unlock it first: try keyring.unlock(secret).remove(slot: number)")
    public func remove(slot number: Int) throws { fatalError("unavailable") }

    /// Not there: see ``UnlockedKeyring``.
    @available(*, unavailable, message: "unlock it first: try keyring.unlock(secret).remove(label: label)")
    public func remove(label: String) throws { fatalError("unavailable") }

    /// Not there: see ``UnlockedKeyring``.
    @available(
        *,
        unavailable,
        message: "unlock it first: try keyring.unlock(secret).add(.passphrase(text), label: label)"
    )
    public func add(_ secret: KeyringSecret, label: String = "") throws -> Int { fatalError("unavailable") }
}

extension UnlockedKeyring {
    /// Not there: see `slots()`.
    @available(*, unavailable, renamed: "slots()")
    public func entries() throws -> [KeyringSlot] { fatalError("unavailable") }
}

extension DatabaseWriter {
    /// Not there: see ``rekey(_:)``.
    @available(
        *,
        unavailable,
        message: "another passphrase is rekey(.passphrase(text)), or with a keyring its change(slot:to:)"
    )
    public func changePassphrase(_ passphrase: String) throws { fatalError("unavailable") }

    /// Not there: see ``rekey(_:)``.
    @available(
        *,
        unavailable,
        message:
            "another passphrase is rekey(.passphrase(text)); with a keyring, rotateKey(of: unlocked) gives a new key"
    )
    public func rekey(_ passphrase: String) throws { fatalError("unavailable") }

    /// Not there: see ``rekey(_:)``.
    @available(
        *,
        unavailable,
        message:
            "another passphrase is rekey(.passphrase(text)); with a keyring, rotateKey(of: unlocked) gives a new key"
    )
    public func rekey(passphrase: String) throws { fatalError("unavailable") }
}

extension DatabaseReader {
    /// Not there: see `backup(to:key:)`.
    @available(*, unavailable, message: "the key of the copy is key: .passphrase(text)")
    public func backup(to path: String, passphrase: String) throws { fatalError("unavailable") }
}
