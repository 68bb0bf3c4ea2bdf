import CipherDB

extension DatabaseError {
    /// Whether the engine would not compile the statement. It has code 1 for a function that is refused.
    var isRefusal: Bool {
        code == .notAuthorized || message.hasPrefix("not authorized to use function")
    }
}

/// Whether a statement was refused, for `#expect(_:throws:)`.
func isRefusal(_ error: any Error) -> Bool {
    (error as? DatabaseError)?.isRefusal == true
}
