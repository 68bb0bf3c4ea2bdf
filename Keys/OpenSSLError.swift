/// A function of OpenSSL, or of CommonCrypto on Apple's systems, failed that fails only when the library is broken, out of memory or restricted by policy.
public struct OpenSSLError: Error, CustomStringConvertible {
    /// The function that failed, by its C name.
    public let operation: String

    package init(operation: String) {
        self.operation = operation
    }

    /// A sentence naming the function.
    public var description: String {
        "\(Cryptography.library)'s \(operation) failed; the library may be out of memory or restricted by its configuration"
    }
}
