internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What is derived from what: secret → key of a slot → master key → the MAC of the file, and the key that wraps the database keys.
extension KeyringContent {
    private static let masterKeySize = 32

    /// A new keyring with one slot and a key that no database was made with.
    static func new(_ secret: KeyringSecret, _ label: String, _ derivation: PassphraseDerivation) throws -> (
        content: KeyringContent, masterKey: SecretBytes
    ) {
        let masterKey = try SecretBytes.random(count: masterKeySize)
        let now = Date.wholeSecond
        let identifier = try randomBytes(16)
        var content = KeyringContent(
            identifier: identifier,
            generation: 0,
            created: now,
            written: now,
            writer: CipherDBVersion.current,
            slots: [],
            current: try newKey(identifier, masterKey)
        )
        content.slots = [try content.makeSlot(1, DerivedSecret(secret, derivation), label, masterKey)]
        return (content, masterKey)
    }

    private static func randomBytes(_ count: Int) throws -> [UInt8] {
        try SecretBytes.random(count: count).withUnsafeBytes { Array($0) }
    }

    /// A key for one purpose.
    private static func hkdf(
        _ key: SecretBytes,
        _ salt: [UInt8],
        _ purpose: String,
        _ place: [UInt8] = [],
        count: Int
    ) throws -> SecretBytes {
        try key.withUnsafeBytes { key in
            try SecretBytes(count: count) {
                try Cryptography.hkdf(
                    .sha512,
                    key: key,
                    salt: salt,
                    info: Array("CipherDB keyring 1 \(purpose)".utf8) + place,
                    output: $0
                )
            }
        }
    }
}

/// The master key wrapped under the secrets of the slots.
extension KeyringContent {
    /// A secret derived for a slot: this is slow, and needs no keyring.
    struct DerivedSecret: Sendable {
        let kind: KeyringSecret.Kind
        let kdf: KeyringSlot.KDF
        let salt: [UInt8]
        let command: SecretCommand?
        fileprivate let input: SecretBytes

        init(_ secret: KeyringSecret, _ derivation: PassphraseDerivation) throws {
            // One that prints another secret each time would never open the slot.
            if let command = secret.command, try !(command.read() == secret.bytes) {
                throw KeySourceError(.notRepeatable, path: command.sourceName)
            }
            kind = secret.kind
            command = secret.command
            kdf = secret.kind == .passphrase ? .derived(derivation) : .direct
            salt = try KeyringContent.randomBytes(16)
            input = try kdf.derive(secret, salt)
        }
    }

    /// The master key wrapped under a secret.
    func makeSlot(
        _ number: Int,
        _ secret: DerivedSecret,
        _ label: String,
        _ masterKey: SecretBytes,
        created: Date = .wholeSecond
    ) throws -> KeyringSlot {
        let key = try slotKey(number, secret.kind, secret.input, secret.salt)
        return KeyringSlot(
            number: number,
            kind: secret.kind,
            label: label,
            created: created,
            changed: .wholeSecond,
            kindNumber: secret.kind.rawValue,
            kdf: secret.kdf,
            salt: secret.salt,
            command: secret.command,
            wrapped: try key.withUnsafeBytes { key in
                try masterKey.withUnsafeBytes { try Cryptography.wrap($0, under: key) }
            }
        )
    }

    /// The master key, and the slot that gave it.
    ///
    /// - Parameter number: The only slot to try; nil for all of the secret's kind.
    func unlock(_ secret: KeyringSecret, slot number: Int?) throws -> (masterKey: SecretBytes, slot: KeyringSlot) {
        if let number, slot(number) == nil { throw KeyringError(.noSuchSlot, slots: [number]) }
        var work = 0
        var refused: Int?
        for slot in slots where slot.kind == secret.kind && (number == nil || slot.number == number) {
            guard slot.isUsable else {
                refused = refused ?? slot.number
                continue
            }
            work += slot.derivation?.work ?? 0
            guard work <= PassphraseDerivation.mostWork else { throw KeyringError(.tooManySlots) }
            let input = try slot.kdf.derive(secret, slot.salt)
            let key = try slotKey(slot.number, secret.kind, input, slot.salt)
            if let masterKey = try key.withUnsafeBytes({ try Cryptography.unwrap(slot.wrapped, under: $0) }) {
                return (masterKey, slot)
            }
        }
        if let refused { throw KeyringError(.unusableSlot, slots: [refused]) }
        throw KeyringError(.wrongSecret)
    }

    /// Whether the secret opens the slot with this number.
    func opens(slot number: Int, with secret: KeyringSecret) throws -> Bool {
        do {
            _ = try unlock(secret, slot: number)
            return true
        } catch is KeyringError {
            return false
        }
    }

    private func slotKey(
        _ number: Int,
        _ kind: KeyringSecret.Kind,
        _ input: SecretBytes,
        _ salt: [UInt8]
    ) throws -> SecretBytes {
        // A slot that is moved to another keyring or another number does not open.
        let place = identifier + [kind.rawValue, UInt8(number >> 8), UInt8(number & 0xff)]
        return try KeyringContent.hkdf(input, salt, "slot", place, count: 32)
    }
}

extension KeyringSlot.KDF {
    /// What the key of a slot is derived from.
    func derive(_ secret: KeyringSecret, _ salt: [UInt8]) throws -> SecretBytes {
        guard case .derived(let derivation) = self else { return secret.bytes }
        return try derivation.derive(secret.bytes, salt: salt)
    }
}

/// The database keys, wrapped under the master key.
extension KeyringContent {
    /// A random one.
    static func newKey(_ identifier: [UInt8], _ masterKey: SecretBytes) throws -> WrappedKey {
        let key = try SecretBytes.random(count: CipherFormat.keySize)
        let wrapped = try wrappingKey(identifier, masterKey).withUnsafeBytes { wrapping in
            try key.withUnsafeBytes { try Cryptography.wrap($0, under: wrapping) }
        }
        return WrappedKey(created: Date.wholeSecond, salt: nil, wrapped: wrapped)
    }

    func databaseKey(_ key: WrappedKey, _ masterKey: SecretBytes) throws -> DatabaseKey {
        let bytes = try KeyringContent.wrappingKey(identifier, masterKey).withUnsafeBytes {
            try Cryptography.unwrap(key.wrapped, under: $0)
        }
        guard let bytes else { throw KeyringError(.altered) }
        var databaseKey = try DatabaseKey.raw(bytes)
        // A file with a plaintext header keeps its salt when its key is changed.
        databaseKey.saltOfHeader = key.salt ?? current.salt
        return databaseKey
    }

    /// Whether `key` is one of its keys, be it a retired one.
    func has(_ key: DatabaseKey, _ masterKey: SecretBytes) throws -> Bool {
        try ([current, next].compactMap { $0 } + retired.map(\.key)).contains {
            try databaseKey($0, masterKey) == key
        }
    }

    private static func wrappingKey(_ identifier: [UInt8], _ masterKey: SecretBytes) throws -> SecretBytes {
        try hkdf(masterKey, identifier, "database key", count: 32)
    }
}

/// The MACs under the master key: of the file, and of the record in the database.
extension KeyringContent {
    /// The file: all that ``encoded()`` gives, and the code.
    func sealed(_ masterKey: SecretBytes) throws -> [UInt8] {
        let bytes = try encoded()
        let file = bytes + (try code(bytes, masterKey))
        // What cannot be read must not take the place of what can.
        guard (try? KeyringContent(file)) == self else { throw KeyringError(.full) }
        return file
    }

    /// Throws where `file`, which has this content, has another code.
    func authenticate(_ file: [UInt8], _ masterKey: SecretBytes) throws {
        let end = file.count - KeyringContent.codeSize
        let expected = try code(Array(file[..<end]), masterKey)
        let isRight = expected.withUnsafeBytes { expected in
            file[end...].withUnsafeBytes { Cryptography.constantTimeEqual($0, expected) }
        }
        guard isRight else { throw KeyringError(.altered) }
    }

    /// What proves to a holder of a secret that a database was used with this generation.
    static func recordMAC(_ identifier: [UInt8], _ generation: UInt64, _ masterKey: SecretBytes) throws -> [UInt8] {
        let number = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
        return try hkdf(masterKey, identifier, "generation", number, count: 32).withUnsafeBytes { Array($0) }
    }

    private func code(_ bytes: [UInt8], _ masterKey: SecretBytes) throws -> [UInt8] {
        let key = try KeyringContent.hkdf(masterKey, identifier, "authentication", count: KeyringContent.codeSize)
        return try key.withUnsafeBytes { try Cryptography.hmac(.sha512, key: $0, bytes) }
    }
}

/// Which file a keyring is for, from before that is under its key.
extension KeyringContent {
    /// Whether the file at `path` was to come under the key, and nothing says that it did. It is also in use then.
    ///
    /// - Parameter path: Without links.
    package func isClaimed(for path: String) throws -> Bool {
        try current.salt == claim(for: path)
    }

    /// What stands in the place of the salt: the first 16 bytes of SHA-256 of the keyring's identifier and the path.
    func claim(for path: String) throws -> [UInt8] {
        try Array(Cryptography.sha256(Array("claim".utf8) + identifier + path.pathBytes).prefix(16))
    }
}

extension Date {
    /// Now, as a keyring can say it.
    static var wholeSecond: Date { Date(timeIntervalSince1970: max(0, Date().timeIntervalSince1970.rounded(.down))) }
}
