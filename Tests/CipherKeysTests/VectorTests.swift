import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// Published vectors; each has its source.
@Suite struct VectorTests {
    struct Scrypt: Decodable, Sendable {
        let source, password, salt: String
        let cost, blockSize, parallelism: Int
        let key: String
    }

    struct Argon2id: Decodable, Sendable {
        let source, password, salt: String
        let kibibytes, passes, lanes: Int
        let key: String
    }

    struct HKDF: Decodable, Sendable {
        let source, hash, key, salt, info, output: String
    }

    struct HMAC: Decodable, Sendable {
        let source, hash, key, message, code: String
    }

    struct KeyWrap: Decodable, Sendable {
        let source, wrapping: String
        let key: String?
        let wrapped: String
        let isValid: Bool
    }

    private static func load<Vector: Decodable>(_ name: String) -> [Vector] {
        guard let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"),
            let data = try? Data(contentsOf: url), let all = try? JSONDecoder().decode([Vector].self, from: data)
        else { preconditionFailure("the vectors cannot be read") }
        return all
    }

    private func bytes(_ hex: String) throws -> [UInt8] { try KeyDerivationTests.bytes(hex) }

    private func derive(_ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws -> [UInt8] {
        try SecretBytes(count: count, fill: body).withUnsafeBytes { Array($0) }
    }

    @Test func publishedVectorsArePresent() {
        let counts = (
            (Self.load("scrypt") as [Scrypt]).count, (Self.load("hkdf") as [HKDF]).count,
            (Self.load("aes-kw") as [KeyWrap]).count, (Self.load("argon2id") as [Argon2id]).count,
            (Self.load("hmac") as [HMAC]).count
        )
        #expect(counts == (4, 7, 13, 2, 3))
    }

    // RFC 7914 has one that takes a gibibyte and seconds.
    @Test(arguments: (load("scrypt") as [Scrypt]).filter { Extent.isComplete || $0.cost < 1 << 20 })
    func scryptMatchesVector(vector: Scrypt) throws {
        let expected = try bytes(vector.key)
        let key = try bytes(vector.password).withUnsafeBytes { password in
            try derive(expected.count) {
                try Cryptography.scrypt(
                    password: password,
                    salt: bytes(vector.salt),
                    cost: vector.cost,
                    blockSize: vector.blockSize,
                    parallelism: vector.parallelism,
                    memory: 2 << 30,
                    output: $0
                )
            }
        }
        #expect(key == expected)
    }

    /// As on Apple's systems, whose library has PBKDF2 only.
    private func scryptInSwift(
        _ password: [UInt8],
        _ salt: [UInt8],
        cost: Int,
        blockSize: Int,
        parallelism: Int,
        count: Int
    ) throws -> [UInt8] {
        try password.withUnsafeBytes { password in
            try derive(count) {
                try CipherKeys.Scrypt.derive(
                    password: password,
                    salt: salt,
                    cost: cost,
                    blockSize: blockSize,
                    parallelism: parallelism,
                    output: $0
                ) {
                    try Cryptography.pbkdf2(.sha256, password: $0, salt: Array($1), iterations: 1, output: $2)
                }
            }
        }
    }

    @Test(arguments: (load("scrypt") as [Scrypt]).filter { $0.cost < 1 << 20 })
    func scryptInSwiftMatchesVector(vector: Scrypt) throws {
        let expected = try bytes(vector.key)
        let key = try scryptInSwift(
            bytes(vector.password),
            bytes(vector.salt),
            cost: vector.cost,
            blockSize: vector.blockSize,
            parallelism: vector.parallelism,
            count: expected.count
        )
        #expect(key == expected)
    }

    @Test(arguments: [(1, 1, 1, 1), (4, 3, 2, 33), (8, 8, 5, 32), (11, 8, 1, 64), (6, 1, 64, 32)])
    func scryptInSwiftMatchesOpenSSL(logCost: Int, blockSize: Int, parallelism: Int, count: Int) throws {
        let (password, salt) = (Array("correct horse".utf8), Array("battery staple".utf8))
        let expected = try password.withUnsafeBytes { password in
            try derive(count) {
                try Cryptography.scrypt(
                    password: password,
                    salt: salt,
                    cost: 1 << logCost,
                    blockSize: blockSize,
                    parallelism: parallelism,
                    memory: 64 << 20,
                    output: $0
                )
            }
        }
        let key = try scryptInSwift(
            password,
            salt,
            cost: 1 << logCost,
            blockSize: blockSize,
            parallelism: parallelism,
            count: count
        )
        #expect(key == expected)
    }

    @Test(arguments: load("hkdf") as [HKDF])
    func hkdfInSwiftMatchesVector(vector: HKDF) throws {
        let expected = try bytes(vector.output)
        let algorithm = try #require(HashAlgorithm(rawValue: vector.hash.uppercased()))
        let key = try bytes(vector.key).withUnsafeBytes { key in
            try derive(expected.count) {
                try CipherKeys.HKDF.derive(
                    algorithm,
                    key: key,
                    salt: bytes(vector.salt),
                    info: bytes(vector.info),
                    output: $0
                ) { key, message, code in
                    code.copyBytes(from: try Cryptography.hmac(algorithm, key: key, Array(message)))
                }
            }
        }
        #expect(key == expected)
    }

    @Test(
        .enabled(if: Cryptography.hasDerivation("ARGON2ID"), "this OpenSSL has no Argon2id"),
        arguments: load("argon2id") as [Argon2id]
    )
    func argon2idMatchesVector(vector: Argon2id) throws {
        let expected = try bytes(vector.key)
        let key = try bytes(vector.password).withUnsafeBytes { password in
            try derive(expected.count) {
                try Cryptography.argon2id(
                    password: password,
                    salt: bytes(vector.salt),
                    kibibytes: vector.kibibytes,
                    passes: vector.passes,
                    lanes: vector.lanes,
                    output: $0
                )
            }
        }
        #expect(key == expected)
    }

    @Test(arguments: load("hkdf") as [HKDF])
    func hkdfMatchesVector(vector: HKDF) throws {
        let expected = try bytes(vector.output)
        let key = try bytes(vector.key).withUnsafeBytes { key in
            try derive(expected.count) {
                try Cryptography.hkdf(
                    #require(HashAlgorithm(rawValue: vector.hash.uppercased())),
                    key: key,
                    salt: bytes(vector.salt),
                    info: bytes(vector.info),
                    output: $0
                )
            }
        }
        #expect(key == expected)
    }

    @Test(arguments: load("hmac") as [HMAC])
    func hmacMatchesVector(vector: HMAC) throws {
        let algorithm = try #require(HashAlgorithm(rawValue: vector.hash.uppercased()))
        let code = try bytes(vector.key).withUnsafeBytes {
            try Cryptography.hmac(algorithm, key: $0, bytes(vector.message))
        }
        #expect(try code == bytes(vector.code))
    }

    @Test(arguments: load("aes-kw") as [KeyWrap])
    func aesKeyWrapMatchesVector(vector: KeyWrap) throws {
        let (wrapping, wrapped) = try (bytes(vector.wrapping), bytes(vector.wrapped))
        let key = try wrapping.withUnsafeBytes { try Cryptography.unwrap(wrapped, under: $0) }
        guard vector.isValid else {
            #expect(key == nil)
            return
        }
        let expected = try bytes(#require(vector.key))
        #expect(try #require(key).withUnsafeBytes { Array($0) } == expected)
        let again = try expected.withUnsafeBytes { key in
            try wrapping.withUnsafeBytes { try Cryptography.wrap(key, under: $0) }
        }
        #expect(again == wrapped)
    }

    @Test func alteredWrappedKeyIsRefused() throws {
        let wrapping = try SecretBytes.random(count: 32)
        let key = try SecretBytes.random(count: 32)
        let wrapped = try wrapping.withUnsafeBytes { wrapping in
            try key.withUnsafeBytes { try Cryptography.wrap($0, under: wrapping) }
        }
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            #expect(try wrapping.withUnsafeBytes { try Cryptography.unwrap(changed, under: $0) } == nil)
        }
        for count in 0..<wrapped.count {
            #expect(
                try wrapping.withUnsafeBytes { try Cryptography.unwrap(Array(wrapped.prefix(count)), under: $0) } == nil
            )
        }
    }
}
