import CipherDB
import CipherKeys

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
