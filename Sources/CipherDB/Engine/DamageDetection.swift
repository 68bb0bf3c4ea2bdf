/// How CipherDB detects that the engine read a page whose MAC is wrong. The engine hands out zeros for it, without an error.
public enum DamageDetection: String, Sendable, Hashable, CustomStringConvertible {
    /// By the pager, which fails until its lock is released: seen in SQLCipher 3.4.1 to 4.12.
    case pager
    /// By the codec, which fails until the connection is closed and says so in `PRAGMA cipher_status`: seen in SQLCipher 4.19.
    case codec
    /// Not at all: such an engine opens no encrypted database (`KeyError.engineHidesDamage`).
    case none

    /// Such as `pager`.
    public var description: String { rawValue }
}
