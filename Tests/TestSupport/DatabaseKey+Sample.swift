package import CipherKeys

/// Keys that open without a derivation, for tests that are not about passphrases.
extension KeyProvider where Self == DatabaseKey {
    /// A raw key of its own for each `name`, which has at most 32 bytes of UTF-8.
    package static func sample(_ name: String) throws -> DatabaseKey {
        try .raw(SecretBytes(copying: sampleBytes(name)))
    }

    /// Its bytes.
    package static func sampleBytes(_ name: String) -> [UInt8] {
        precondition(name.utf8.count <= CipherFormat.keySize, "the name of a sample key is too long: \(name)")
        return Array(name.utf8) + Array(repeating: 0, count: CipherFormat.keySize - name.utf8.count)
    }
}

extension KeyringSecret {
    /// The same bytes as a key file's.
    package static func sample(_ name: String) throws -> KeyringSecret {
        try .keyFile(SecretBytes(copying: DatabaseKey.sampleBytes(name)))
    }
}

extension String {
    /// ``DatabaseKey/sample(_:)`` as SQLCipher spells it: `x'…'`.
    package static func sampleKey(_ name: String) -> String {
        "x'\(SampleKey.hexadecimal(DatabaseKey.sampleBytes(name)))'"
    }
}
