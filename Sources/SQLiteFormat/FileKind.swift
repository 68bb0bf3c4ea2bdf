/// What a file looks like from outside, without a key.
package enum FileKind: Equatable, Sendable {
    /// No bytes: a database that is still to be made.
    case empty
    /// A SQLite database that is not encrypted.
    case plaintext
    /// Fewer bytes than the smallest page.
    case tooShort
    /// Anything else: an encrypted database, or no database at all. A key tells, or ``looksEncrypted(_:)``.
    case opaque

    /// > The first 16 bytes of the database file: "SQLite format 3\000" (sqlite.org/fileformat.html)
    package static let plaintextHeader = Array("SQLite format 3\0".utf8)

    /// Looks at the start of `source`.
    package static func recognise(_ source: some PageSource) throws -> FileKind {
        let size = try source.size()
        guard size > 0 else { return .empty }
        if try source.read(16, at: 0) == plaintextHeader { return .plaintext }
        return size < 512 ? .tooShort : .opaque
    }

    /// Whether the start of an ``opaque`` file has no pattern, as in an encrypted database.
    package static func looksEncrypted(_ source: some PageSource) throws -> Bool {
        looksRandom(try source.read(4096, at: 0))
    }

    /// Pearson's chi-squared over the byte values. It is 255 ± 23 for random bytes; a limit of 600 is fifteen standard
    /// deviations away, and text, zeros, images and machine code are in the thousands.
    private static func looksRandom(_ bytes: [UInt8]) -> Bool {
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes { counts[Int(byte)] += 1 }
        let expected = Double(bytes.count) / 256
        let distance = counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        return distance < 600
    }
}
