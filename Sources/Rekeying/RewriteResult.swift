public import CipherDB

/// The file after an operation that rewrote it; every page was read back.
public struct RewriteResult: Sendable, Equatable {
    /// The format; nil for plaintext.
    public let format: CipherFormat?
    /// The format that the file had, or that of the file it was made from; nil for plaintext.
    public let previousFormat: CipherFormat?
    /// Bytes in a page.
    public let pageSize: Int
    /// Pages in the file.
    public let pages: Int
    /// As ``Verification/unchecked``, where SQLite's integrity check was run over the new file.
    public let unchecked: [String]
}
