#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
                try masterKey.withUnsafeBytes { try OpenSSL.wrap($0, under: key) }
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
            if let masterKey = try key.withUnsafeBytes({ try OpenSSL.unwrap(slot.wrapped, under: $0) }) {
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
