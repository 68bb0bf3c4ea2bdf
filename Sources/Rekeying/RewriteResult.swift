public import CipherDB

/// What stands in the file after an operation that wrote it anew; every page of it was read back.
public struct RewriteResult: Sendable, Equatable {
    /// The format; nil for plaintext.
    public let format: CipherFormat?
    /// Bytes in a page.
    public let pageSize: Int
    /// Pages in the file.
    public let pages: Int
}
