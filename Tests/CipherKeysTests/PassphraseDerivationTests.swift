import TestSupport
import Testing

@testable import CipherKeys

@Suite(.slow) struct PassphraseDerivationTests {
    typealias Function = PassphraseDerivation.Function

    /// OWASP's figures of March 2026, as far as 64 MiB allow them.
    static let least: [Function] = [
        .pbkdf2SHA256(iterations: 600_000), .pbkdf2SHA512(iterations: 220_000),
        .scrypt(logCost: 16, blockSize: 8, parallelism: 2), .scrypt(logCost: 15, blockSize: 8, parallelism: 3),
        .scrypt(logCost: 14, blockSize: 8, parallelism: 5), .scrypt(logCost: 13, blockSize: 8, parallelism: 10),
        .argon2id(kibibytes: 46 << 10, passes: 1, lanes: 1), .argon2id(kibibytes: 19 << 10, passes: 2, lanes: 1),
        .argon2id(kibibytes: 12 << 10, passes: 3, lanes: 1), .argon2id(kibibytes: 9 << 10, passes: 4, lanes: 1),
        .argon2id(kibibytes: 7 << 10, passes: 5, lanes: 1),
    ]

    private static func weaker(_ function: Function) -> Function {
        switch function {
        case .pbkdf2SHA256(let iterations): .pbkdf2SHA256(iterations: iterations - 1)
        case .pbkdf2SHA512(let iterations): .pbkdf2SHA512(iterations: iterations - 1)
        case .scrypt(let logCost, let blockSize, let parallelism):
            .scrypt(logCost: logCost, blockSize: blockSize, parallelism: parallelism - 1)
        case .argon2id(let kibibytes, let passes, let lanes):
            .argon2id(kibibytes: kibibytes - 1, passes: passes, lanes: lanes)
        }
    }

    /// A smaller block takes less memory, whatever else is larger.
    @Test(arguments: [
        Function.scrypt(logCost: 17, blockSize: 4, parallelism: 1), .scrypt(logCost: 16, blockSize: 7, parallelism: 2),
        .scrypt(logCost: 14, blockSize: 7, parallelism: 10), .scrypt(logCost: 13, blockSize: 1, parallelism: 64),
    ])
    func smallerBlockIsWeak(function: Function) throws {
        #expect(throws: UnusablePassphraseDerivation.tooWeak(function)) { try PassphraseDerivation(function) }
        #expect(try PassphraseDerivation(unsafeWeak: function).isWeak)
    }

    @Test(arguments: least)
    func weakParametersNeedUnsafeInitialiser(function: Function) throws {
        #expect(try !PassphraseDerivation(function).isWeak)
        let weaker = Self.weaker(function)
        if case .scrypt(_, _, 0) = weaker { return }
        #expect(throws: UnusablePassphraseDerivation.tooWeak(weaker)) { try PassphraseDerivation(weaker) }
        #expect(try PassphraseDerivation(unsafeWeak: weaker).isWeak)
    }

    @Test(arguments: [
        Function.pbkdf2SHA256(iterations: 5_000_000), .pbkdf2SHA512(iterations: 2_500_000),
        .pbkdf2SHA512(iterations: Int(Int32.max)), .scrypt(logCost: 17, blockSize: 8, parallelism: 1),
        .scrypt(logCost: 30, blockSize: 64, parallelism: 64), .scrypt(logCost: 16, blockSize: 8, parallelism: 64),
        .argon2id(kibibytes: (64 << 10) + 1, passes: 1, lanes: 1), .argon2id(kibibytes: 1 << 30, passes: 1, lanes: 1),
        .argon2id(kibibytes: 64 << 10, passes: 100, lanes: 1),
    ])
    func excessiveCostIsRefused(function: Function) {
        #expect(throws: UnusablePassphraseDerivation.tooCostly(function)) {
            try PassphraseDerivation(unsafeWeak: function)
        }
    }

    @Test(arguments: [
        Function.pbkdf2SHA256(iterations: 0), .pbkdf2SHA512(iterations: -5), .pbkdf2SHA512(iterations: Int.max),
        .scrypt(logCost: 0, blockSize: 8, parallelism: 1), .scrypt(logCost: 63, blockSize: 8, parallelism: 1),
        .scrypt(logCost: 14, blockSize: 0, parallelism: 1), .scrypt(logCost: 14, blockSize: 8, parallelism: -1),
        .argon2id(kibibytes: 7, passes: 1, lanes: 1), .argon2id(kibibytes: 1024, passes: 0, lanes: 1),
        .argon2id(kibibytes: 1024, passes: 1, lanes: 0), .argon2id(kibibytes: Int.max, passes: 1, lanes: 1),
    ])
    func invalidParametersAreRefused(function: Function) {
        #expect(throws: UnusablePassphraseDerivation.impossible(function)) {
            try PassphraseDerivation(unsafeWeak: function)
        }
    }

    @Test(arguments: [
        Function.pbkdf2SHA256(iterations: 1), .pbkdf2SHA512(iterations: 1),
        .scrypt(logCost: 1, blockSize: 1, parallelism: 1),
    ])
    func calibrationKeepsToBounds(function: Function) throws {
        let found = try [Duration.zero, .seconds(3600)].map {
            try PassphraseDerivation.calibrated(for: $0, function)
        }
        for derivation in found {
            #expect(!derivation.isWeak)
            #expect(try PassphraseDerivation(derivation.function) == derivation)
        }
        #expect(found[1].work > found[0].work)
    }

    @Test func missingKDFOfOpenSSLIsNamed() throws {
        let function = Function.argon2id(kibibytes: 19 << 10, passes: 2, lanes: 1)
        let derivation = try PassphraseDerivation(function)
        let derive = { try derivation.derive(SecretBytes(utf8: "passphrase"), salt: Array(0..<16)) }
        if derivation.isAvailable {
            #expect(try derive().count == 32)
        } else {
            #expect(throws: UnusablePassphraseDerivation.unavailable(function)) { try derive() }
        }
    }

    @Test func eachKDFParameterChangesKey() throws {
        let functions: [Function] = [
            .pbkdf2SHA256(iterations: 1000), .pbkdf2SHA256(iterations: 1001), .pbkdf2SHA512(iterations: 1000),
            .scrypt(logCost: 10, blockSize: 8, parallelism: 1), .scrypt(logCost: 11, blockSize: 8, parallelism: 1),
            .scrypt(logCost: 10, blockSize: 8, parallelism: 2), .scrypt(logCost: 10, blockSize: 4, parallelism: 1),
        ]
        let secret = try SecretBytes(utf8: "passphrase")
        var keys: [[UInt8]] = []
        for function in functions {
            let derivation = try PassphraseDerivation(unsafeWeak: function)
            for salt in [UInt8(1), 2] {
                keys.append(
                    try derivation.derive(secret, salt: Array(repeating: salt, count: 16)).withUnsafeBytes { Array($0) }
                )
            }
        }
        #expect(Set(keys).count == 14 && keys.allSatisfy { $0.count == 32 })
        let again = try PassphraseDerivation(unsafeWeak: functions[0]).derive(
            secret,
            salt: Array(repeating: 1, count: 16)
        )
        #expect(try again.withUnsafeBytes { Array($0) } == keys[0])
    }
}
