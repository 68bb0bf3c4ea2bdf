/// The key of a database: a passphrase, or a raw key.
///
/// Each is checked when it is made, before any file is touched. Printing shows the kind only.
public struct DatabaseKey: Sendable {
    enum Material {
        case passphrase(SecretBytes)
        case raw(SecretBytes)
    }

    let material: Material
    /// The salt that the key brings with it; nil for the file's.
    package private(set) var salt: [UInt8]?
    /// The salt for a file that does not contain its own, where the key does not bring one. It is no part of the key.
    package var saltOfHeader: [UInt8]?

    /// Whether both are the same key with the same salt of their own, in a time that does not depend on where the keys differ.
    ///
    /// - Throws: ``UsedAfterFork`` in a child of the process that made one of them.
    public static func == (first: DatabaseKey, second: DatabaseKey) throws -> Bool {
        let isSame =
            switch (first.material, second.material) {
            case (.passphrase(let one), .passphrase(let other)), (.raw(let one), .raw(let other)): try one == other
            case (.passphrase, .raw), (.raw, .passphrase): false
            }
        return isSame && first.salt == second.salt
    }

    /// This key with the salt of the file. A file with a plaintext header does not have it; another one must have the same.
    ///
    /// The salt is no secret. Without it the key does not open a file with a plaintext header.
    ///
    /// - Throws: ``MalformedKey`` unless it has 16 bytes.
    public func with(salt: [UInt8]) throws -> DatabaseKey {
        guard salt.count == CipherFormat.saltSize else {
            throw MalformedKey.wrongSaltLength(expected: CipherFormat.saltSize, found: salt.count)
        }
        var key = self
        key.salt = salt
        return key
    }

    /// As ``raw(hex:)-(SecretBytes)``, in the spellings of ``SecretText/digits(_:)``.
    static func raw(spelled text: SecretBytes) throws -> DatabaseKey {
        let (digits, isLiteral) = try SecretText.digits(text)
        if isLiteral { return try raw(ofLiteral: digits) }
        let counts = [CipherFormat.keySize, CipherFormat.keySize + CipherFormat.saltSize].map { 2 * $0 }
        guard counts.contains(digits.count) || !digits.count.isMultiple(of: 2) else {
            throw MalformedKey.wrongNumberOfDigits(digits.count)
        }
        return try raw(hex: digits)
    }

    /// What stands in `x'…'`, where that is all.
    fileprivate static func literalDigits(_ bytes: SecretBytes) throws -> SecretBytes? {
        try bytes.withUnsafeBytes { bytes in
            guard bytes.count >= 3, bytes[0] | 0x20 == UInt8(ascii: "x"), bytes[1] == UInt8(ascii: "'"),
                bytes[bytes.count - 1] == UInt8(ascii: "'")
            else { return nil }
            return try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[2..<(bytes.count - 1)]))
        }
    }

    fileprivate static func raw(ofLiteral digits: SecretBytes) throws -> DatabaseKey {
        do {
            return try raw(hex: digits)
        } catch is MalformedKey {
            throw MalformedKey.malformedLiteral
        }
    }

    /// A raw key as 64 hexadecimal digits in ASCII, or with its salt as 96: `DatabaseKey.raw(hex:)` reads them. Their holder has
    /// the database.
    ///
    /// - Throws: `MalformedKey.passphraseIsNoRawKey` for a passphrase; ``UsedAfterFork``.
    public func exported() throws -> SecretBytes {
        guard case .raw(let key) = material else { throw MalformedKey.passphraseIsNoRawKey }
        let salt = salt ?? []
        return try key.withUnsafeBytes { key in
            try SecretBytes(count: 2 * (key.count + salt.count)) { digits in
                Hexadecimal.encode(key, into: UnsafeMutableRawBufferPointer(rebasing: digits[..<(2 * key.count)]))
                let rest = UnsafeMutableRawBufferPointer(rebasing: digits[(2 * key.count)...])
                salt.withUnsafeBytes { Hexadecimal.encode($0, into: rest) }
            }
        }
    }

    fileprivate static func check(_ bytes: SecretBytes, count: Int) throws {
        let found = try bytes.withUnsafeBytes(\.count)
        guard found == count else { throw MalformedKey.wrongLength(expected: count, found: found) }
    }

    /// Whether it is a passphrase that reads as a raw key in hexadecimal digits, and was probably meant as one.
    package var spellsRawKey: Bool {
        guard case .passphrase(let bytes) = material else { return false }
        return (try? DatabaseKey.raw(spelled: bytes)) != nil
    }

    /// Whether a derivation stands between this and the page key, so that opening costs time.
    package var isPassphrase: Bool {
        if case .passphrase = material { true } else { false }
    }
}

// Here, and not in the structure, so that `key: .passphrase(text)` is what it is for every ``KeyProvider``.
extension KeyProvider where Self == DatabaseKey {
    /// A passphrase of 1 to 1,048,576 bytes, of any value. The key is derived by PBKDF2 with the file's salt, exactly as SQLCipher
    /// does it.
    ///
    /// SQLCipher takes `x'…'` around 64 or 96 hexadecimal digits for a raw key, and so does this.
    ///
    /// - Throws: ``MalformedKey`` when it is empty or too long, and for an `x'…'` of another number of digits, which versions of
    ///   SQLCipher read in different ways.
    public static func passphrase(_ bytes: SecretBytes) throws -> DatabaseKey {
        try MalformedKey.check(passphrase: bytes)
        if let digits = try DatabaseKey.literalDigits(bytes),
            try digits.withUnsafeBytes({ $0.allSatisfy(Hexadecimal.isDigit) })
        {
            return try DatabaseKey.raw(ofLiteral: digits)
        }
        return DatabaseKey(material: .passphrase(bytes))
    }

    /// The UTF-8 bytes of `text` as a passphrase; not normalised, so `é` typed in two ways is two passphrases.
    ///
    /// The caller's `String` cannot be wiped; see ``SecretBytes/init(utf8:)``.
    ///
    /// - Throws: as ``passphrase(_:)-(SecretBytes)``.
    public static func passphrase(_ text: String) throws -> DatabaseKey {
        try passphrase(SecretBytes(utf8: text))
    }

    /// Bytes as a passphrase, such as the `Data` that another program gave SQLCipher. The caller's copy is not wiped.
    ///
    /// - Throws: as ``passphrase(_:)-(SecretBytes)``.
    public static func passphrase(_ bytes: some Collection<UInt8>) throws -> DatabaseKey {
        try passphrase(SecretBytes(copying: bytes))
    }

    /// The 32-byte key of AES-256 itself, uniformly random: no derivation, so opening takes a tenth of a millisecond.
    ///
    /// - Throws: ``MalformedKey`` unless it has 32 bytes.
    public static func raw(_ bytes: SecretBytes) throws -> DatabaseKey {
        try DatabaseKey.check(bytes, count: CipherFormat.keySize)
        return DatabaseKey(material: .raw(bytes))
    }

    /// The 32-byte key from `Data` or an array, as another program stores it. The caller's copy is not wiped.
    ///
    /// - Throws: ``MalformedKey`` unless it has 32 bytes.
    public static func raw(_ bytes: some Collection<UInt8>) throws -> DatabaseKey {
        try raw(SecretBytes(copying: bytes))
    }

    /// The 32-byte key followed by the 16-byte salt of the file, or of the file to create.
    ///
    /// For one file only: pages of two files that have the same key and salt can be exchanged, and nobody sees it.
    ///
    /// - Throws: ``MalformedKey`` unless it has 48 bytes.
    public static func rawWithSalt(_ bytes: SecretBytes) throws -> DatabaseKey {
        try DatabaseKey.check(bytes, count: CipherFormat.keySize + CipherFormat.saltSize)
        return try bytes.withUnsafeBytes { bytes in
            try raw(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<CipherFormat.keySize])))
                .with(salt: Array(bytes[CipherFormat.keySize...]))
        }
    }

    /// A raw key from 64 hexadecimal digits, or from 96 with the salt; nothing else may stand in `hex`.
    ///
    /// - Throws: ``MalformedKey`` naming the digit or the length.
    public static func raw(hex: String) throws -> DatabaseKey {
        let digits = try SecretBytes(utf8: hex)
        return try raw(hex: digits)
    }

    /// A raw key from 64 hexadecimal digits (ASCII), or from 96 with the salt.
    ///
    /// - Throws: ``MalformedKey`` naming the digit or the length.
    public static func raw(hex digits: SecretBytes) throws -> DatabaseKey {
        let bytes = try digits.withUnsafeBytes { try Hexadecimal.decode($0) }
        return bytes.count == CipherFormat.keySize + CipherFormat.saltSize ? try rawWithSalt(bytes) : try raw(bytes)
    }

    /// A new random raw key. To open the file again, store what ``DatabaseKey/exported()`` gives, or use a keyring.
    public static func random() throws -> DatabaseKey {
        try raw(SecretBytes.random(count: CipherFormat.keySize))
    }

    /// Key bytes as SQLCipher's own `sqlite3_key` reads them: a passphrase, unless they spell `x'…'` around 64 or 96
    /// hexadecimal digits, which is a raw key.
    ///
    /// - Throws: ``MalformedKey``, also for an `x'…'` of another length, which SQLCipher would silently take for a
    ///   passphrase.
    public static func engineBytes(_ bytes: SecretBytes) throws -> DatabaseKey {
        guard let digits = try DatabaseKey.literalDigits(bytes) else { return try passphrase(bytes) }
        return try DatabaseKey.raw(ofLiteral: digits)
    }
}

extension DatabaseKey: Redacted {
    /// The kind of key and nothing of its bytes.
    public var description: String {
        "DatabaseKey(\(isPassphrase ? "passphrase" : "raw")\(salt == nil ? "" : " with salt"), redacted)"
    }
}

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
