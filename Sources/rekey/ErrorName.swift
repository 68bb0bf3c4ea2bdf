import CipherDB

/// The word for an error in JSON: the case of `KeyError` or of a keyring's problem, or else that of the exit status.
struct ErrorName {
    let text: String

    init(_ error: any Error, _ status: ExitStatus) {
        // The case without what it carries.
        let problem = (error as? KeyringError).map { String("\($0.problem)".prefix { $0 != "(" }) }
        if let problem, problem != "system" {
            text = problem
            return
        }
        text =
            switch error as? KeyError {
            case .wrongKey: "wrongKey"
            case .keyMissing: "keyMissing"
            case .notEncrypted: "notEncrypted"
            case .notADatabase: "notADatabase"
            case .damaged: "damaged"
            case .otherFormat: "otherFormat"
            case .engineHasNoEncryption: "engineHasNoEncryption"
            case .engineHidesDamage: "engineHidesDamage"
            case nil: String(describing: status)
            }
    }
}
