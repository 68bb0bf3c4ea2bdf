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

extension UnusablePassphraseDerivation: CustomStringConvertible {
    /// A sentence with the parameters and what to do.
    public var description: String {
        switch self {
        case .tooWeak(let function): "\(function): too weak; use PassphraseDerivation.standard, or calibrate"
        case .tooCostly(let function): "\(function): needs more than 64 MiB, or more than about a second"
        case .impossible(let function): "\(function): these parameters are not valid"
        case .unavailable(let function): "\(function): OpenSSL \(OpenSSL.version) does not have it"
        }
    }
}
