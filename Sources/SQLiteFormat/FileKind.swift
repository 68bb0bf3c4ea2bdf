internal import CipherSystem

/// What a file looks like from outside, without a key.
package enum FileKind: Equatable, Sendable {
    /// No bytes: a database that is still to be made.
    case empty
    /// A SQLite database that is not encrypted.
    case plaintext
    /// A database that is encrypted behind a header in plaintext.
    case plaintextHeader
    /// Fewer bytes than the smallest page.
    case tooShort
    /// Anything else: an encrypted database, or no database at all. A key tells, or ``looksEncrypted(_:)``.
    case opaque

    /// > The first 16 bytes of the database file: "SQLite format 3\000" (sqlite.org/fileformat.html)
    package static let magic = Array("SQLite format 3\0".utf8)

    /// Looks at the start of `source`.
    package static func recognise(_ source: some PageSource) throws -> FileKind {
        let size = try source.size()
        guard size > 0 else { return .empty }
        if try source.read(16, at: 0) == magic {
            return try PlaintextHeader.isBeginning(of: source) ? .plaintextHeader : .plaintext
        }
        if try isDamagedMagic(source.read(16, at: 0)), try PlaintextHeader.isBeginning(of: source) {
            return .plaintextHeader
        }
        return size < 512 ? .tooShort : .opaque
    }

    /// Whether bytes begin with ``magic`` but for one to four bytes. A random salt is never so near to it.
    package static func isDamagedMagic(_ head: some Collection<UInt8>) -> Bool {
        head.count >= magic.count && (1...4).contains(zip(head, magic).count { $0 != $1 })
    }

    /// Whether the start of an ``opaque`` file has no pattern, as in an encrypted database.
    package static func looksEncrypted(_ source: some PageSource) throws -> Bool {
        try KnownMagic.name(of: source) == nil && looksRandom(source.read(4096, at: 0))
    }

    /// Whether a file has bytes 16 to 23 of SQLite's header behind a salt, as SQLite3 Multiple Ciphers writes by default (`legacy = 0`).
    package static func hasLayoutOfMultipleCiphers(_ source: some PageSource) throws -> Bool {
        let head = try source.read(4096, at: 0)
        guard head.count >= 512, Array(head.prefix(16)) != magic, let pageSize = PlaintextHeader.pageSize(head) else {
            return false
        }
        return try source.size() % Int64(pageSize) == 0 && (1...2).contains(head[18]) && (1...2).contains(head[19])
    }

    /// Whether chi-squared over the byte values is that of random bytes. It is 255 ± 23 for random bytes; a limit of 600 is fifteen standard
    /// deviations away, and text, zeros, images and machine code are in the thousands.
    static func looksRandom(_ bytes: [UInt8]) -> Bool { ByteHistogram(bytes).chiSquared < 600 }
}
