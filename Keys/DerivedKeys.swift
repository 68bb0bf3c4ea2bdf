/// A key, and what was derived from it, so that no passphrase is derived twice for one salt. For one thread at a time.
package final class DerivedKeys {
    private let key: DatabaseKey
    private var known: [(salt: [UInt8], format: CipherFormat, derived: DerivedKey)] = []

    /// Called before each derivation of a passphrase with the number of those that were made; what it throws ends the search.
    private let progress: ((Int) throws -> Void)?

    package init(_ key: DatabaseKey, progress: ((Int) throws -> Void)? = nil) {
        self.key = key
        self.progress = progress
    }

    /// As ``DatabaseKey/isPassphrase``.
    package var isPassphrase: Bool { key.isPassphrase }

    /// As ``DatabaseKey/spellsRawKey``.
    package var spellsRawKey: Bool { key.spellsRawKey }

    /// As ``DatabaseKey/saltBesideFile``.
    package var saltBesideFile: [UInt8]? { key.saltBesideFile }

    /// As ``DatabaseKey/derive(salt:format:)``.
    package func derive(salt: [UInt8], format: CipherFormat) throws -> DerivedKey {
        let found = known.first { $0.salt == salt && $0.format.hasSameDerivation(as: format) }
        if let found { return found.derived }
        if key.isPassphrase { try progress?(known.count) }
        let derived = try key.derive(salt: salt, format: format)
        known.append((salt, format, derived))
        return derived
    }

    /// A raw key with `salt` in place of the one that it brings; nil for a passphrase, and where the key brings none or the same.
    package func derive(inPlaceOfOwnSalt salt: [UInt8], format: CipherFormat) throws -> DerivedKey? {
        guard !key.isPassphrase, let own = key.salt, own != salt else { return nil }
        return try key.with(salt: salt).derive(salt: salt, format: format)
    }
}

extension CipherFormat {
    /// Whether a passphrase gives the same key in both: neither the page size nor the MAC is in the derivation, but a file with a plaintext
    /// header has another salt.
    package func hasSameDerivation(as other: CipherFormat) -> Bool {
        keyDerivation == other.keyDerivation && iterations == other.iterations
            && (plaintextHeaderSize > 0) == (other.plaintextHeaderSize > 0)
    }
}
