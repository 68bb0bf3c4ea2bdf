internal import CipherSystem

#if canImport(Security)
    internal import CryptoKit
    internal import Foundation
    internal import Security
#endif

/// A secret in the keychain of Apple's systems: a generic password of the data-protection keychain, which stays on this device.
///
/// A program needs an entitlement for it: that of its keychain access groups, or of its application groups. On other systems each call
/// throws `KeySourceError.notHere`.
public struct KeychainItem: Sendable, Hashable, SecretSource {
    /// When the system has the secret decrypted.
    public enum Accessibility: Sendable {
        /// While the device is unlocked.
        case whenUnlocked
        /// Once it was unlocked since it was started: for what also runs in the background.
        case afterFirstUnlock
        /// While the device is unlocked. Its user has set a passcode; the secret is lost when the user removes it.
        case whenPasscodeSet
    }

    private let service: String
    private let account: String
    private let accessGroup: String?
    private let accessibility: Accessibility
    private let usesSecureEnclave: Bool

    /// An item by its names; nothing is stored yet.
    ///
    /// - Parameters:
    ///   - accessGroup: Of the programs that have it in common; the program's first one for nil.
    ///   - usesSecureEnclave: Whether what is stored is encrypted under a new key that only this device's Secure Enclave can use (ECIES, by
    ///     P-256 and AES-GCM): each reading asks it. A device or simulator without one refuses.
    public init(
        service: String,
        account: String,
        accessGroup: String? = nil,
        accessibility: Accessibility = .afterFirstUnlock,
        usesSecureEnclave: Bool = false
    ) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
        self.accessibility = accessibility
        self.usesSecureEnclave = usesSecureEnclave
    }

    /// Reads the secret, byte for byte.
    ///
    /// - Throws: `KeySourceError.missing`; `KeySourceError.keychain`, as while the device is locked.
    public func read() throws -> SecretBytes {
        #if canImport(Security)
            let stored = try Keychain.read(query, name)
            return try Keychain.secret(usesSecureEnclave ? EnclaveSecret.open(stored, name) : stored)
        #else
            throw KeySourceError(.notHere, path: name)
        #endif
    }

    /// Stores a secret.
    ///
    /// - Parameter replacing: Whether it takes the place of one that is there. False is for what two programs may make at once, such as the
    ///   key of a new database: one of them is refused, and reads.
    /// - Throws: `KeySourceError.keychain`; with the status -25299, `errSecDuplicateItem`, where one is there and is not replaced.
    public func store(_ secret: SecretBytes, replacing: Bool = true) throws {
        #if canImport(Security)
            try secret.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { throw KeySourceError(.missing, path: name) }
                // Not copied here. The keychain has copies of its own.
                let address = UnsafeMutableRawPointer(mutating: base)
                let plain = Data(bytesNoCopy: address, count: bytes.count, deallocator: .none)
                let stored = usesSecureEnclave ? try EnclaveSecret.wrap(plain, protection, name) : plain
                try Keychain.store(stored, query, [kSecAttrAccessible: protection], replacing, name)
            }
        #else
            throw KeySourceError(.notHere, path: name)
        #endif
    }

    /// Removes the secret; where it is not there, nothing happens.
    ///
    /// - Throws: `KeySourceError.keychain`.
    public func remove() throws {
        #if canImport(Security)
            try Keychain.remove(query, name)
        #else
            throw KeySourceError(.notHere, path: name)
        #endif
    }

    private var name: String { Keychain.name(service, account) }
}

#if canImport(Security)
    extension KeychainItem {
        private var query: [CFString: Any] {
            var query = Keychain.query(service: service, account: account)
            // Without it macOS takes the keychain of files, which has neither classes of protection nor access groups.
            query[kSecUseDataProtectionKeychain] = true
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        private var protection: CFString {
            switch accessibility {
            case .whenUnlocked: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .whenPasscodeSet: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        }
    }

    /// What is stored of a secret that the Secure Enclave wraps. The key comes with it: of two processes that store, neither can be left
    /// with the key of the other.
    private struct EnclaveSecret: Codable {
        /// The private key, as the Secure Enclave gives it out: encrypted for itself.
        let key: Data
        let sender: Data
        let sealed: Data

        static func wrap(_ plain: Data, _ protection: CFString, _ name: String) throws -> Data {
            var error: Unmanaged<CFError>?
            guard let access = SecAccessControlCreateWithFlags(nil, protection, .privateKeyUsage, &error) else {
                throw refusal(error?.takeRetainedValue(), name)
            }
            do {
                let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: access)
                let ephemeral = P256.KeyAgreement.PrivateKey()
                let sender = ephemeral.publicKey.x963Representation
                let shared = try ephemeral.sharedSecretFromKeyAgreement(with: key.publicKey)
                // Nil for a nonce of another size than the standard's.
                let sealed = try AES.GCM.seal(plain, using: derive(shared, sender)).combined!
                return try JSONEncoder().encode(
                    EnclaveSecret(key: key.dataRepresentation, sender: sender, sealed: sealed)
                )
            } catch {
                throw refusal(error, name)
            }
        }

        static func open(_ stored: Data, _ name: String) throws -> Data {
            do {
                let wrapped = try JSONDecoder().decode(EnclaveSecret.self, from: stored)
                let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: wrapped.key)
                let sender = try P256.KeyAgreement.PublicKey(x963Representation: wrapped.sender)
                let shared = try key.sharedSecretFromKeyAgreement(with: sender)
                let sealed = try AES.GCM.SealedBox(combined: wrapped.sealed)
                return try AES.GCM.open(sealed, using: derive(shared, wrapped.sender))
            } catch {
                throw refusal(error, name)
            }
        }

        private static func derive(_ shared: SharedSecret, _ sender: Data) -> SymmetricKey {
            shared.x963DerivedSymmetricKey(using: SHA256.self, sharedInfo: sender, outputByteCount: 32)
        }

        private static func refusal(_ error: (any Error)?, _ name: String) -> KeySourceError {
            let status = error.map { $0 as NSError }.flatMap { $0.domain == "NSOSStatusErrorDomain" ? $0.code : nil }
            return KeySourceError(.keychain, path: name, status: status.map { Int32(clamping: $0) })
        }
    }
#endif

/// Calls of the keychain.
enum Keychain {
    /// What errors call an item.
    static func name(_ service: String, _ account: String) -> String { "keychain item \(service), \(account)" }

    /// The generic password of `service` and `account`, of the keychain that a program without entitlements has: on macOS its user's.
    static func read(service: String, account: String) throws -> SecretBytes {
        #if canImport(Security)
            try secret(read(query(service: service, account: account), name(service, account)))
        #else
            throw KeySourceError(.notHere, path: name(service, account))
        #endif
    }

    #if canImport(Security)
        static func query(service: String, account: String) -> [CFString: Any] {
            [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
        }

        static func read(_ query: [CFString: Any], _ name: String) throws -> Data {
            var query = query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status == errSecSuccess, let data = found as? Data else {
                throw KeySourceError(status == errSecItemNotFound ? .missing : .keychain, path: name, status: status)
            }
            return data
        }

        static func store(
            _ secret: Data,
            _ query: [CFString: Any],
            _ attributes: [CFString: Any],
            _ replacing: Bool,
            _ name: String
        ) throws {
            var attributes = attributes
            attributes[kSecValueData] = secret
            var status = SecItemAdd(query.merging(attributes) { $1 } as CFDictionary, nil)
            if status == errSecDuplicateItem, replacing {
                status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
            }
            guard status == errSecSuccess else { throw KeySourceError(.keychain, path: name, status: status) }
        }

        static func remove(_ query: [CFString: Any], _ name: String) throws {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw KeySourceError(.keychain, path: name, status: status)
            }
        }

        /// The bytes, in memory of our own. The copy that Foundation has is its own to free; it cannot be wiped here.
        static func secret(_ data: Data) throws -> SecretBytes {
            try data.withUnsafeBytes { try SecretBytes(copying: $0) }
        }
    #endif
}
