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

    static func randomBytes(_ count: Int) throws -> [UInt8] {
        try SecretBytes.random(count: count).withUnsafeBytes { Array($0) }
    }

    /// A key for one purpose.
    static func hkdf(
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

extension Date {
    /// Now, as a keyring can say it.
    static var wholeSecond: Date { Date(timeIntervalSince1970: max(0, Date().timeIntervalSince1970.rounded(.down))) }
}
