// What wraps a secret by the Secure Enclave, by its documented declarations; nothing here runs.
@_exported import Foundation
import Security

public protocol HashFunction {}
public struct SHA256: HashFunction {}
public struct SymmetricKey {}
public struct SharedSecret {
    public func x963DerivedSymmetricKey<Hash: HashFunction, Info: DataProtocol>(
        using hash: Hash.Type,
        sharedInfo: Info,
        outputByteCount: Int
    ) -> SymmetricKey { fatalError() }
}
public enum P256 {
    public enum KeyAgreement {
        public struct PublicKey {
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws { fatalError() }
            public var x963Representation: Data { fatalError() }
        }
        public struct PrivateKey {
            public init(compactRepresentable: Bool = true) { fatalError() }
            public var publicKey: PublicKey { fatalError() }
            public func sharedSecretFromKeyAgreement(with share: PublicKey) throws -> SharedSecret { fatalError() }
        }
    }
}
public enum SecureEnclave {
    public enum P256 {
        public enum KeyAgreement {
            public struct PrivateKey {
                public init(accessControl: SecAccessControl) throws { fatalError() }
                public init(dataRepresentation: Data) throws { fatalError() }
                public var dataRepresentation: Data { fatalError() }
                public var publicKey: CryptoKit.P256.KeyAgreement.PublicKey { fatalError() }
                public func sharedSecretFromKeyAgreement(with share: CryptoKit.P256.KeyAgreement.PublicKey) throws
                    -> SharedSecret
                { fatalError() }
            }
        }
    }
}
public enum AES {
    public enum GCM {
        public struct Nonce {}
        public struct SealedBox {
            public init<Bytes: DataProtocol>(combined: Bytes) throws { fatalError() }
            public var combined: Data? { fatalError() }
        }
        public static func seal<Plaintext: DataProtocol>(
            _ message: Plaintext,
            using key: SymmetricKey,
            nonce: Nonce? = nil
        ) throws -> SealedBox { fatalError() }
        public static func open(_ box: SealedBox, using key: SymmetricKey) throws -> Data { fatalError() }
    }
}
