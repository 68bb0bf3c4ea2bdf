#if canImport(Security)
    internal import Foundation
    internal import Security
#endif

/// Passwords that macOS keeps for its user.
enum Keychain {
    /// The generic password of `service` and `account`.
    static func read(service: String, account: String) throws -> SecretBytes {
        let name = "keychain item \(service), \(account)"
        #if canImport(Security)
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
                kSecAttrAccount: account,
                kSecReturnData: true,
                kSecMatchLimit: kSecMatchLimitOne,
            ]
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status == errSecSuccess, let data = found as? Data else {
                throw KeySourceError(status == errSecItemNotFound ? .missing : .keychain, path: name, status: status)
            }
            // The copy that Foundation has is its own to free; it cannot be wiped here.
            return try data.withUnsafeBytes { try SecretBytes(copying: $0) }
        #else
            throw KeySourceError(.notHere, path: name)
        #endif
    }
}
