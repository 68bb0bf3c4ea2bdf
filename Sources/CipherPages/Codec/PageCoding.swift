package import CipherKeys

/// How the pages of a database file are encoded.
package enum PageCoding: Sendable {
    case plaintext(pageSize: Int)
    case encrypted(DerivedKey, CipherFormat)

    package var pageSize: Int {
        switch self {
        case .plaintext(let pageSize): pageSize
        case .encrypted(_, let format): format.pageSize
        }
    }

    /// Nil for plaintext.
    package var format: CipherFormat? {
        if case .encrypted(_, let format) = self { format } else { nil }
    }

    /// For single pages; nil for plaintext.
    func cipher() throws -> PageCipher? {
        if case .encrypted(let key, let format) = self { try PageCipher(key: key, format: format) } else { nil }
    }

    /// For one thread at a time.
    func codec() throws -> any PageCodec {
        switch self {
        case .plaintext(let pageSize): PlaintextCodec(pageSize: pageSize)
        case .encrypted(let key, let format): try EncryptedCodec(key: key, format: format)
        }
    }
}
