/// What gives the key of a database that is opened: a ``DatabaseKey``, an ``UnlockedKeyring``, or a keyring with a secret.
///
/// ```swift
/// let queue = try DatabaseQueue(path: path, key: .passphrase("correct horse battery staple"))
/// let other = try DatabaseQueue(path: path, key: .keyring(Keyring(besideDatabase: path), unlockedBy: secret))
/// ```
public protocol KeyProvider: Sendable {
    /// The key, or where it is.
    var provided: ProvidedKey { get }
}

/// The key that a database is opened with, or where it is.
public enum ProvidedKey: Sendable, KeyProvider {
    /// No key, for a database in plaintext.
    case none
    /// This key.
    case key(DatabaseKey)
    /// The key that the keyring holds.
    case unlocked(UnlockedKeyring)
    /// The key that the keyring holds, once the secret has unlocked it; it is made together with a new database, with the secret in slot 1.
    /// Only `slot` is tried where it is not nil, which ``KeyringContent/needsSlotNumber`` asks for.
    case locked(Keyring, KeyringSecret, slot: Int?)

    /// Itself.
    public var provided: ProvidedKey { self }
}

extension DatabaseKey: KeyProvider {
    /// The key itself.
    public var provided: ProvidedKey { .key(self) }
}

extension UnlockedKeyring: KeyProvider {
    /// The key that it holds.
    public var provided: ProvidedKey { .unlocked(self) }
}

extension Optional: KeyProvider where Wrapped: KeyProvider {
    /// No key where it is nil.
    public var provided: ProvidedKey { self?.provided ?? .none }
}

extension KeyProvider where Self == ProvidedKey {
    /// The key that a keyring holds. At the first start, where neither the keyring nor the database is there, both are made.
    ///
    /// - Parameters:
    ///   - secret: What unlocks the keyring, and that of slot 1 of a new one.
    ///   - slot: The only slot to try; needed where ``KeyringContent/needsSlotNumber`` says so.
    public static func keyring(
        _ keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil
    ) -> ProvidedKey {
        .locked(keyring, secret, slot: slot)
    }
}
