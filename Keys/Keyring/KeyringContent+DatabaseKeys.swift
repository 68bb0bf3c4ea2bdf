#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The database keys, wrapped under the master key.
extension KeyringContent {
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
