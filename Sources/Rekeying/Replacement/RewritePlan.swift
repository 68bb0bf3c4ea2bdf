public import CipherDB

/// What an operation would do, found with the file locked and without writing.
public struct RewritePlan: Sendable, Equatable {
    /// The format of the file; nil for plaintext.
    public let from: CipherFormat?
    /// The format that it would have; nil for plaintext.
    public let to: CipherFormat?
    /// Whether pages would be rewritten as they are, on all cores; else their entries would be copied to pages of another size.
    public let isByPages: Bool
    /// Bytes in the file.
    public let size: Int64
    /// Bytes that the operation needs beside it.
    public let neededSpace: Int64
    /// Bytes that the disk has left.
    public let freeSpace: Int64
    /// What killed runs left, and would be removed.
    public let leftovers: [String]
}
