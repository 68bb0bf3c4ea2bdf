import ArgumentParser
import CipherDB

/// `--kdf`: a KDF for passphrases.
enum KDFOption: String, CaseIterable, ExpressibleByArgument {
    case scrypt
    case argon2id
    case pbkdf2SHA512 = "pbkdf2-sha512"
    case pbkdf2SHA256 = "pbkdf2-sha256"

    /// Also as `rekey keyring list` prints them: `PBKDF2-SHA-512`.
    init?(argument: String) { self.init(rawValue: argument.lowercased().replacing("sha-", with: "sha")) }

    /// With OWASP's parameters, or calibrated where a time is given.
    func derivation(milliseconds: Int?) throws -> PassphraseDerivation {
        if self == .scrypt, milliseconds == nil { return .standard }
        return try .calibrated(for: .milliseconds(milliseconds ?? 1), function)
    }

    var function: PassphraseDerivation.Function {
        switch self {
        case .pbkdf2SHA512: .pbkdf2SHA512(iterations: 1)
        case .pbkdf2SHA256: .pbkdf2SHA256(iterations: 1)
        case .scrypt: .scrypt(logCost: 1, blockSize: 8, parallelism: 1)
        case .argon2id: .argon2id(kibibytes: 8, passes: 1, lanes: 1)
        }
    }
}
