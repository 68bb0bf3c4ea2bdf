/// The KDF of a passphrase that wraps keys, with its parameters.
///
/// This is for keyrings. The passphrase of a database is derived as its `CipherFormat` says.
public struct PassphraseDerivation: Sendable, Hashable {
    /// The KDFs and their parameters.
    public enum Function: Sendable, Hashable {
        /// PBKDF2 with HMAC-SHA-256 (RFC 8018).
        case pbkdf2SHA256(iterations: Int)
        /// PBKDF2 with HMAC-SHA-512 (RFC 8018).
        case pbkdf2SHA512(iterations: Int)
        /// scrypt (RFC 7914) with N = 2^`logCost`; takes 128 · N · `blockSize` bytes.
        case scrypt(logCost: Int, blockSize: Int, parallelism: Int)
        /// Argon2id (RFC 9106). OpenSSL has it from 3.2 on, CommonCrypto does not.
        case argon2id(kibibytes: Int, passes: Int, lanes: Int)
    }

    /// The function and its parameters.
    public let function: Function

    /// A derivation that meets OWASP's password storage figures of March 2026, and that no file can make cost minutes or
    /// gigabytes.
    ///
    /// - Throws: ``UnusablePassphraseDerivation``.
    public init(_ function: Function) throws(UnusablePassphraseDerivation) {
        try self.init(unsafeWeak: function)
        guard !isWeak else { throw .tooWeak(function) }
    }

    /// A derivation of any strength, for tests and for secrets that are as long as keys.
    ///
    /// - Throws: ``UnusablePassphraseDerivation`` where it makes no sense, or costs too much.
    public init(unsafeWeak function: Function) throws(UnusablePassphraseDerivation) {
        self.function = function
        guard isPossible else { throw .impossible(function) }
        guard memory <= PassphraseDerivation.mostMemory, work <= PassphraseDerivation.mostWork else {
            throw .tooCostly(function)
        }
    }

    /// scrypt with N = 2^14, r = 8 and p = 5, one of OWASP's: 16 MiB, and about as long as PBKDF2. A graphics card tries a
    /// tenth as many passphrases. Four slots of it can be tried without their numbers.
    public static let standard = PassphraseDerivation(checked: .scrypt(logCost: 14, blockSize: 8, parallelism: 5))
    /// PBKDF2 with HMAC-SHA-512 and 256,000 iterations, as SQLCipher 4 derives the keys of files.
    public static let pbkdf2 = PassphraseDerivation(checked: .pbkdf2SHA512(iterations: 256_000))

    init(checked function: Function) {
        self.function = function
    }

    // MARK: Bounds

    /// The most bytes that a derivation may take: 64 MiB.
    package static let mostMemory = 64 << 20
    /// The most ``work``: nine times that of ``pbkdf2``, about a second on a machine of 2023.
    static let mostWork = 9 * 96_000_000

    private var isPossible: Bool {
        switch function {
        case .pbkdf2SHA256(let iterations), .pbkdf2SHA512(let iterations):
            (1...Int(Int32.max)).contains(iterations)
        case .scrypt(let logCost, let blockSize, let parallelism):
            // > N … must be … less than 2^(128 * r / 8).
            (1...30).contains(logCost) && (1...64).contains(blockSize) && (1...64).contains(parallelism)
                && logCost < 16 * blockSize
        case .argon2id(let kibibytes, let passes, let lanes):
            // > Memory size m MUST be an integer from 8*p to 2^32-1.
            (1...16).contains(lanes) && (8 * lanes...1 << 30).contains(kibibytes) && (1...1000).contains(passes)
        }
    }

    /// Bytes that it takes.
    private var memory: Int {
        switch function {
        case .pbkdf2SHA256, .pbkdf2SHA512: 0
        case .scrypt(let logCost, let blockSize, _): 128 * blockSize << logCost
        case .argon2id(let kibibytes, _, _): kibibytes << 10
        }
    }

    /// The time that it takes, of which ``pbkdf2`` takes 96,000,000; as measured with OpenSSL 3 on x86-64. Whole numbers, so that
    /// every reader of a keyring comes to the same sum.
    var work: Int {
        switch function {
        case .pbkdf2SHA256(let iterations): 192 * iterations
        case .pbkdf2SHA512(let iterations): 375 * iterations
        case .scrypt(let logCost, let blockSize, let parallelism): 320 * (blockSize << logCost) * parallelism
        case .argon2id(let kibibytes, let passes, _): 640 * kibibytes * passes
        }
    }

    /// Whether it is below OWASP's figures (Password Storage Cheat Sheet, March 2026).
    public var isWeak: Bool {
        switch function {
        case .pbkdf2SHA256(let iterations): iterations < 600_000
        case .pbkdf2SHA512(let iterations): iterations < 220_000
        case .scrypt(let logCost, let blockSize, let parallelism):
            // > N=2^17 r=8 p=1, or 2^16 p=2, 2^15 p=3, 2^14 p=5, 2^13 p=10
            ![(17, 1), (16, 2), (15, 3), (14, 5), (13, 10)].contains {
                logCost >= $0.0 && parallelism >= $0.1 && blockSize >= 8
            }
        case .argon2id(let kibibytes, let passes, _):
            // > m=46 MiB t=1, or 19 MiB t=2, 12 MiB t=3, 9 MiB t=4, 7 MiB t=5
            ![(46, 1), (19, 2), (12, 3), (9, 4), (7, 5)].contains { kibibytes >= $0.0 << 10 && passes >= $0.1 }
        }
    }

    /// Whether the libcrypto of this process, or CommonCrypto, can do it.
    public var isAvailable: Bool {
        switch function {
        case .argon2id: Cryptography.hasDerivation("ARGON2ID")
        default: true
        }
    }

    // MARK: Use

    /// Derives `count` bytes from `passphrase`.
    package func derive(_ passphrase: SecretBytes, salt: [UInt8], count: Int = 32) throws -> SecretBytes {
        guard isAvailable else { throw UnusablePassphraseDerivation.unavailable(function) }
        return try KeyDerivation.noting(function.kind) { try run(passphrase, salt, count) }
    }

    private func run(_ passphrase: SecretBytes, _ salt: [UInt8], _ count: Int) throws -> SecretBytes {
        switch function {
        case .pbkdf2SHA256(let iterations):
            return try KeyDerivation.pbkdf2(
                .sha256,
                password: passphrase,
                salt: salt,
                iterations: iterations,
                count: count
            )
        case .pbkdf2SHA512(let iterations):
            return try KeyDerivation.pbkdf2(
                .sha512,
                password: passphrase,
                salt: salt,
                iterations: iterations,
                count: count
            )
        case .scrypt(let logCost, let blockSize, let parallelism):
            return try passphrase.withUnsafeBytes { password in
                try SecretBytes(count: count) { output in
                    try Cryptography.scrypt(
                        password: password,
                        salt: salt,
                        cost: 1 << logCost,
                        blockSize: blockSize,
                        parallelism: parallelism,
                        // What OpenSSL counts beside the large table is a few kibibytes for each lane.
                        memory: memory + (1 << 20),
                        output: output
                    )
                }
            }
        case .argon2id(let kibibytes, let passes, let lanes):
            return try passphrase.withUnsafeBytes { password in
                try SecretBytes(count: count) { output in
                    try Cryptography.argon2id(
                        password: password,
                        salt: salt,
                        kibibytes: kibibytes,
                        passes: passes,
                        lanes: lanes,
                        output: output
                    )
                }
            }
        }
    }
}

extension PassphraseDerivation: CustomStringConvertible {
    /// The function and its parameters.
    public var description: String { function.description }
}

extension PassphraseDerivation.Function {
    fileprivate var kind: KeyDerivation.Function {
        switch self {
        case .pbkdf2SHA256, .pbkdf2SHA512: .pbkdf2
        case .scrypt: .scrypt
        case .argon2id: .argon2id
        }
    }
}

extension PassphraseDerivation.Function: CustomStringConvertible {
    /// The function and its parameters.
    public var description: String {
        switch self {
        case .pbkdf2SHA256(let iterations): "PBKDF2-SHA-256, \(iterations) iterations"
        case .pbkdf2SHA512(let iterations): "PBKDF2-SHA-512, \(iterations) iterations"
        case .scrypt(let logCost, let blockSize, let parallelism):
            "scrypt, N=2^\(logCost) r=\(blockSize) p=\(parallelism)"
        case .argon2id(let kibibytes, let passes, let lanes): "Argon2id, m=\(kibibytes) KiB t=\(passes) p=\(lanes)"
        }
    }
}

extension PassphraseDerivation {
    /// Measures this machine, and gives parameters with which a derivation takes about `duration` here; never below OWASP's
    /// figures, nor above what any file may cost.
    ///
    /// - Parameter function: The function whose parameters are to be found; those that it has do not matter.
    /// - Throws: ``UnusablePassphraseDerivation/unavailable(_:)``.
    public static func calibrated(
        for duration: Duration = .milliseconds(250),
        _ function: Function = PassphraseDerivation.standard.function
    ) throws -> PassphraseDerivation {
        let sample = PassphraseDerivation(checked: smallest(function))
        let secret = try SecretBytes.random(count: 16)
        let clock = ContinuousClock()
        let measure = { try clock.measure { _ = try sample.derive(secret, salt: Array(repeating: 7, count: 16)) } }
        var shortest = try measure()
        // The shortest of three, as other work slows some of them down; one where it is far too long already.
        if shortest < duration * 4 { for _ in 0..<2 { shortest = min(shortest, try measure()) } }
        let factor = duration / shortest
        return PassphraseDerivation(checked: sample.scaled(by: factor))
    }

    /// The least of its kind that is not weak; of PBKDF2 with SHA-512 what SQLCipher 4 does.
    private static func smallest(_ function: Function) -> Function {
        switch function {
        case .pbkdf2SHA256: .pbkdf2SHA256(iterations: 600_000)
        case .pbkdf2SHA512: PassphraseDerivation.pbkdf2.function
        case .scrypt: .scrypt(logCost: 14, blockSize: 8, parallelism: 5)
        case .argon2id: .argon2id(kibibytes: 19 << 10, passes: 2, lanes: 1)
        }
    }

    /// `factor` times the work, within the bounds; memory first.
    private func scaled(by factor: Double) -> Function {
        let factor = min(max(1, factor), Double(PassphraseDerivation.mostWork) / Double(work))
        func times(_ number: Int, _ factor: Double) -> Int { max(number, Int(Double(number) * factor)) }
        switch function {
        // Figures that people can read.
        case .pbkdf2SHA256(let iterations): return .pbkdf2SHA256(iterations: times(iterations, factor) / 1000 * 1000)
        case .pbkdf2SHA512(let iterations): return .pbkdf2SHA512(iterations: times(iterations, factor) / 1000 * 1000)
        case .scrypt(var logCost, let blockSize, let parallelism):
            var rest = factor
            while rest >= 2, logCost < 16 {
                logCost += 1
                rest /= 2
            }
            return .scrypt(logCost: logCost, blockSize: blockSize, parallelism: times(parallelism, rest))
        case .argon2id(let kibibytes, let passes, let lanes):
            let more = min(factor, Double(PassphraseDerivation.mostMemory >> 10) / Double(kibibytes))
            return .argon2id(
                kibibytes: times(kibibytes, more),
                passes: times(passes, factor / more),
                lanes: lanes
            )
        }
    }
}

/// KDF parameters that are refused.
public enum UnusablePassphraseDerivation: Error, Equatable, Sendable {
    /// Below OWASP's figures: passphrases could be tried too fast.
    case tooWeak(PassphraseDerivation.Function)
    /// More than 64 MiB, or about a second.
    case tooCostly(PassphraseDerivation.Function)
    /// The function cannot be run so.
    case impossible(PassphraseDerivation.Function)
    /// The libcrypto of this process does not have it.
    case unavailable(PassphraseDerivation.Function)
}

extension UnusablePassphraseDerivation: DescribedError {
    /// A sentence with the parameters and what to do.
    public var description: String {
        switch self {
        case .tooWeak(let function): "\(function): too weak; use PassphraseDerivation.standard, or calibrate"
        case .tooCostly(let function): "\(function): needs more than 64 MiB, or more than about a second"
        case .impossible(let function): "\(function): these parameters are not valid"
        case .unavailable(let function): "\(function): \(Cryptography.name) does not have it"
        }
    }
}
