package import CipherKeys

/// What `body` finds wrong with a keyring; nil where it succeeds, or fails at something else.
package func keyringProblem(_ body: () throws -> Void) -> KeyringError.Problem? {
    do {
        try body()
        return nil
    } catch {
        return (error as? KeyringError)?.problem
    }
}
