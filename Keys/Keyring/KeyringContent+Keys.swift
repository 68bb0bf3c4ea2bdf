#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// What is derived from what: secret → key of a slot → master key → the code of the file, and the key that wraps the database's.
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
        content.slots = [try content.makeSlot(1, Stretched(secret, derivation), label, masterKey)]
        return (content, masterKey)
    }

    static func randomBytes(_ count: Int) throws -> [UInt8] {
        try SecretBytes.random(count: count).withUnsafeBytes { Array($0) }
    }

    // MARK: Slots

    /// A secret that was stretched for a slot: what takes its time, and needs no keyring.
    struct Stretched: Sendable {
        let kind: KeyringSecret.Kind
        let lock: KeyringSlot.Lock
        let salt: [UInt8]
        fileprivate let input: SecretBytes

        init(_ secret: KeyringSecret, _ derivation: PassphraseDerivation) throws {
            kind = secret.kind
            lock = secret.kind == .passphrase ? .stretched(derivation) : .direct
            salt = try KeyringContent.randomBytes(16)
            input = try lock.stretch(secret, salt)
        }
    }

    /// The master key wrapped under a secret.
    func makeSlot(
        _ number: Int,
        _ secret: Stretched,
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
            lock: secret.lock,
            salt: secret.salt,
            wrapped: try key.withUnsafeBytes { key in
                try masterKey.withUnsafeBytes { try OpenSSL.wrap($0, under: key) }
            }
        )
    }

    /// The master key, and the slot that gave it.
    ///
    /// - Parameter number: The only slot to try; nil for all of the secret's kind.
    func unlock(_ secret: KeyringSecret, slot number: Int?) throws -> (masterKey: SecretBytes, slot: KeyringSlot) {
        if let number, slot(number) == nil { throw KeyringError.Problem.noSuchSlot(number) }
        var work = 0
        var refused: Int?
        for slot in slots where slot.kind == secret.kind && (number == nil || slot.number == number) {
            guard slot.isUsable else {
                refused = refused ?? slot.number
                continue
            }
            work += slot.derivation?.work ?? 0
            guard work <= PassphraseDerivation.mostWork else { throw KeyringError.Problem.tooManySlots }
            let input = try slot.lock.stretch(secret, slot.salt)
            let key = try slotKey(slot.number, secret.kind, input, slot.salt)
            if let masterKey = try key.withUnsafeBytes({ try OpenSSL.unwrap(slot.wrapped, under: $0) }) {
                return (masterKey, slot)
            }
        }
        throw refused.map { KeyringError.Problem.unusableSlot($0) } ?? .wrongSecret
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

    // MARK: Database keys

    /// A random one.
    static func newKey(_ identifier: [UInt8], _ masterKey: SecretBytes) throws -> WrappedKey {
        let key = try SecretBytes.random(count: CipherFormat.keySize)
        let wrapped = try wrappingKey(identifier, masterKey).withUnsafeBytes { wrapping in
            try key.withUnsafeBytes { try OpenSSL.wrap($0, under: wrapping) }
        }
        return WrappedKey(created: Date.wholeSecond, salt: nil, wrapped: wrapped)
    }

    func databaseKey(_ key: WrappedKey, _ masterKey: SecretBytes) throws -> DatabaseKey {
        let bytes = try KeyringContent.wrappingKey(identifier, masterKey).withUnsafeBytes {
            try OpenSSL.unwrap(key.wrapped, under: $0)
        }
        guard let bytes else { throw KeyringError.Problem.altered }
        return try .raw(bytes)
    }

    private static func wrappingKey(_ identifier: [UInt8], _ masterKey: SecretBytes) throws -> SecretBytes {
        try hkdf(masterKey, identifier, "database key", count: 32)
    }

    // MARK: Authentication

    /// The file: all that ``encoded()`` gives, and the code.
    func sealed(_ masterKey: SecretBytes) throws -> [UInt8] {
        let bytes = try encoded()
        let file = bytes + (try code(bytes, masterKey))
        // What cannot be read must not take the place of what can.
        guard try KeyringContent(file) == self else { throw KeyringError.Problem.full }
        return file
    }

    /// Throws where `file`, of which this is the content, has another code.
    func authenticate(_ file: [UInt8], _ masterKey: SecretBytes) throws {
        let end = file.count - KeyringContent.codeSize
        let expected = try code(Array(file[..<end]), masterKey)
        let isRight = expected.withUnsafeBytes { expected in
            file[end...].withUnsafeBytes { OpenSSL.constantTimeEqual($0, expected) }
        }
        guard isRight else { throw KeyringError.Problem.altered }
    }

    /// What proves to a holder of a secret that a database was used with this generation.
    static func recordMAC(_ identifier: [UInt8], _ generation: UInt64, _ masterKey: SecretBytes) throws -> [UInt8] {
        let number = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
        return try hkdf(masterKey, identifier, "generation", number, count: 32).withUnsafeBytes { Array($0) }
    }

    private func code(_ bytes: [UInt8], _ masterKey: SecretBytes) throws -> [UInt8] {
        let key = try KeyringContent.hkdf(masterKey, identifier, "authentication", count: KeyringContent.codeSize)
        return try key.withUnsafeBytes { try OpenSSL.hmac(.sha512, key: $0, bytes) }
    }

    private static func hkdf(
        _ key: SecretBytes,
        _ salt: [UInt8],
        _ purpose: String,
        _ place: [UInt8] = [],
        count: Int
    ) throws -> SecretBytes {
        try key.withUnsafeBytes { key in
            try SecretBytes(count: count) {
                try OpenSSL.hkdf(
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

extension KeyringSlot.Lock {
    /// What the key of a slot is derived from.
    func stretch(_ secret: KeyringSecret, _ salt: [UInt8]) throws -> SecretBytes {
        guard case .stretched(let derivation) = self else { return secret.bytes }
        return try derivation.derive(secret.bytes, salt: salt)
    }
}

extension Date {
    /// Now, as a keyring can say it.
    static var wholeSecond: Date { Date(timeIntervalSince1970: max(0, Date().timeIntervalSince1970.rounded(.down))) }
}
