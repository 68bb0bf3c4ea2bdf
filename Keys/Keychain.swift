internal import CipherSystem

#if canImport(Security)
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
    ///   - usesSecureEnclave: Whether what is stored is encrypted under a key that the Secure Enclave has made and does not give out
    ///     (ECIES, by P-256 and AES-GCM): each reading asks it. A device or simulator without one refuses.
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
            guard usesSecureEnclave else { return try Keychain.secret(stored) }
            return try Keychain.secret(enclaveKey().decrypt(stored, name))
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
                let stored = usesSecureEnclave ? try (findEnclaveKey() ?? makeEnclaveKey()).encrypt(plain, name) : plain
                try Keychain.store(stored, query, [kSecAttrAccessible: protection], replacing, name)
            }
        #else
            throw KeySourceError(.notHere, path: name)
        #endif
    }

    /// Removes the secret, and its key in the Secure Enclave; where it is not there, nothing happens.
    ///
    /// - Throws: `KeySourceError.keychain`.
    public func remove() throws {
        #if canImport(Security)
            try Keychain.remove(query, name)
            if usesSecureEnclave { try Keychain.remove(enclaveQuery, name) }
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

        private var enclaveTag: Data { Data("CipherDB \(service.utf8.count) \(service) \(account)".utf8) }

        private var enclaveQuery: [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassKey,
                kSecAttrApplicationTag: enclaveTag,
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        private func enclaveKey() throws -> EnclaveKey {
            guard let key = try findEnclaveKey() else { throw KeySourceError(.missing, path: name) }
            return key
        }

        private func findEnclaveKey() throws -> EnclaveKey? {
            var query = enclaveQuery
            query[kSecReturnRef] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let found, CFGetTypeID(found) == SecKeyGetTypeID() else {
                throw KeySourceError(.keychain, path: name, status: status)
            }
            return EnclaveKey(key: unsafeDowncast(found, to: SecKey.self))
        }

        private func makeEnclaveKey() throws -> EnclaveKey {
            var error: Unmanaged<CFError>?
            guard let access = SecAccessControlCreateWithFlags(nil, protection, .privateKeyUsage, &error) else {
                throw Keychain.refusal(error, name)
            }
            var own: [CFString: Any] = [
                kSecAttrIsPermanent: true, kSecAttrApplicationTag: enclaveTag, kSecAttrAccessControl: access,
            ]
            if let accessGroup { own[kSecAttrAccessGroup] = accessGroup }
            let attributes: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                kSecUseDataProtectionKeychain: true,
                kSecPrivateKeyAttrs: own,
            ]
            guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
                throw Keychain.refusal(error, name)
            }
            return EnclaveKey(key: key)
        }
    }

    /// A private key that the Secure Enclave keeps.
    private struct EnclaveKey {
        let key: SecKey
        // For a new key each time, and an initialization vector that is derived with it.
        private static var algorithm: SecKeyAlgorithm { .eciesEncryptionCofactorVariableIVX963SHA256AESGCM }

        init(key: SecKey) {
            self.key = key
        }

        func encrypt(_ plain: Data, _ name: String) throws -> Data {
            var error: Unmanaged<CFError>?
            guard let publicKey = SecKeyCopyPublicKey(key),
                let encrypted = SecKeyCreateEncryptedData(publicKey, EnclaveKey.algorithm, plain as CFData, &error)
            else { throw Keychain.refusal(error, name) }
            return encrypted as Data
        }

        func decrypt(_ encrypted: Data, _ name: String) throws -> Data {
            var error: Unmanaged<CFError>?
            guard let plain = SecKeyCreateDecryptedData(key, EnclaveKey.algorithm, encrypted as CFData, &error) else {
                throw Keychain.refusal(error, name)
            }
            return plain as Data
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

        static func refusal(_ error: Unmanaged<CFError>?, _ name: String) -> KeySourceError {
            KeySourceError(
                .keychain,
                path: name,
                status: error.map { Int32(clamping: CFErrorGetCode($0.takeRetainedValue())) }
            )
        }

        /// The bytes, in memory of our own. The copy that Foundation has is its own to free; it cannot be wiped here.
        static func secret(_ data: Data) throws -> SecretBytes {
            try data.withUnsafeBytes { try SecretBytes(copying: $0) }
        }
    #endif
}
