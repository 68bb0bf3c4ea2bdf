/// What the key of a database authenticates the manifests of its backups with: Documentation/Backup.md.
package struct BackupKey: Sendable {
    /// Tells manifests under this key from those under others; it says nothing about the key.
    package let identifier: [UInt8]
    private let secret: SecretBytes

    package static let identifierSize = 16
    package static let macSize = HashAlgorithm.sha256.digestSize

    /// - Parameters:
    ///   - key: That of the database.
    ///   - repository: The identifier of the repository.
    package init(_ key: DerivedKey, repository: [UInt8]) throws {
        identifier = try BackupKey.derive(key, repository, "identifier", BackupKey.identifierSize).withUnsafeBytes {
            Array($0)
        }
        secret = try BackupKey.derive(key, repository, "authentication", BackupKey.macSize)
    }

    /// HMAC-SHA-256.
    package func mac(of message: [UInt8]) throws -> [UInt8] {
        try secret.withUnsafeBytes { try Cryptography.hmac(.sha256, key: $0, message) }
    }

    /// Whether `mac` is that of `message`.
    package func isRight(_ mac: [UInt8], of message: [UInt8]) throws -> Bool {
        let expected = try self.mac(of: message)
        return mac.withUnsafeBytes { mac in expected.withUnsafeBytes { Cryptography.constantTimeEqual(mac, $0) } }
    }

    private static func derive(
        _ key: DerivedKey,
        _ repository: [UInt8],
        _ purpose: String,
        _ count: Int
    ) throws -> SecretBytes {
        try SecretBytes(count: count) { output in
            try key.withPageKey { key in
                try Cryptography.hkdf(
                    .sha512,
                    key: key,
                    salt: repository,
                    info: Array("CipherDB backup 1 \(purpose)".utf8),
                    output: output
                )
            }
        }
    }
}
