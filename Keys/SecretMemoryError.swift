/// No memory could be allocated for a secret.
public struct SecretMemoryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes asked for.
    public let count: Int

    /// A sentence with the count.
    public var description: String {
        "no memory for a secret of \(count) bytes; 0 to 64 MiB are possible"
    }
}
