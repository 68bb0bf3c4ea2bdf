import ArgumentParser
import CipherDB
import CipherKeys

/// The source of a secret that the options name; the terminal if they name none.
struct SecretChoice {
    let passphrases: [KeySource]
    /// A raw key, or the key file of a keyring.
    let keyFile: KeySource?
    let isRecovery: Bool
    let isExternal: Bool

    private var count: Int { passphrases.count + (keyFile == nil ? 0 : 1) }

    var isGiven: Bool { count > 0 }

    /// Throws where `other` is read from the same descriptor, which is at its end then.
    func check(apartFrom other: SecretChoice) throws {
        for case .descriptor(let number)? in [keyFile] + passphrases where other.has(descriptor: number) {
            throw ValidationError(
                "Both secrets would be read from \(number == 0 ? "standard input" : "descriptor \(number)"); give one another way."
            )
        }
    }

    private func has(descriptor: Int32) -> Bool {
        ([keyFile].compactMap { $0 } + passphrases).contains(.descriptor(descriptor))
    }

    /// - Parameter prefix: Of the options, in the error.
    func checkCount(prefix: String) throws {
        guard count <= 1 else {
            throw ValidationError("Give only one of the options \(prefix)passphrase-… and \(prefix)key-file.")
        }
    }

    func checkKind() throws {
        guard !isRecovery || !isExternal && keyFile == nil else {
            throw ValidationError("--recovery, --external and --key-file: give only one of them.")
        }
    }

    func read(prompt: String, confirmed: Bool = false) throws -> DatabaseKey {
        if let keyFile { return try keyFile.readRawKey() }
        // What is typed once is proved by the caller.
        return try TypedSecret.ask(isTyped: confirmed && passphrases.isEmpty) { _ in
            try (passphrases.first ?? .prompt(prompt, confirmed: confirmed)).readPassphrase()
        }
    }

    /// The key, if options name its source.
    func readIfGiven() throws -> DatabaseKey? { isGiven ? try read(prompt: "") : nil }

    /// What it is for a keyring.
    var kind: KeyringSecret.Kind {
        if isRecovery {
            .recoveryCode
        } else if isExternal {
            .external
        } else if keyFile != nil {
            .keyFile
        } else {
            .passphrase
        }
    }

    /// Reads a secret that opens a slot of a keyring.
    func readKeyringSecret(prompt: String, confirmed: Bool = false) throws -> KeyringSecret {
        let name = kind == .recoveryCode ? "Recovery code" : confirmed ? "New passphrase" : "Passphrase"
        let source = keyFile ?? passphrases.first ?? .prompt("\(name) \(prompt)", confirmed: confirmed)
        return try TypedSecret.ask(isTyped: confirmed && !isGiven) { _ in try source.readKeyringSecret(kind) }
    }
}

/// Secrets that a person types, and may mistype.
enum TypedSecret {
    /// How often a secret is asked for.
    private static let tries = 3

    /// Calls `body`, which reads a secret and uses it, until the secret is right, three times at most.
    ///
    /// - Parameters:
    ///   - isTyped: Whether it is typed at the terminal. What comes from elsewhere is the same each time.
    ///   - body: Whether it is the last try is its argument.
    static func ask<Value>(isTyped: Bool, _ body: (_ isLast: Bool) throws -> Value) throws -> Value {
        for _ in 1..<tries where isTyped {
            do {
                return try body(false)
            } catch {
                guard let mistake = mistake(error) else { throw error }
                Output.tellLine("rekey: \(mistake); try again", clearing: true)
            }
        }
        return try body(true)
    }

    /// What was mistyped; nil for an error that another try does not mend.
    private static func mistake(_ error: any Error) -> String? {
        switch error {
        case KeyError.wrongKey, KeyringError.wrongSecret: "that does not open it"
        case KeySourceError.notConfirmed: "the two entries differ"
        case KeyringError.notConfirmed: "that is another code"
        case let error as MalformedKey: "\(error)"
        default: nil
        }
    }
}
