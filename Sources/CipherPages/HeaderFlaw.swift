package import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// What in a plaintext header contradicts the format of the file. No MAC covers the header, and the engine acts on it: with fewer reserved
/// bytes than the format has, it would overwrite rows by IVs and MACs.
package struct HeaderFlaw: CustomStringConvertible, Sendable {
    /// Such as `byte 20 of the plaintext header is 0, and pages of the format reserve 80 bytes`.
    package let description: String

    /// Nil where nothing is wrong, and in a format whose header of SQLite is encrypted.
    package init?(_ page: [UInt8], format: CipherFormat) {
        guard format.plaintextHeaderSize > 0, page.count >= 24 else { return nil }
        guard page.starts(with: FileKind.magic) else {
            description = "the plaintext header does not begin with SQLite's magic string"
            return
        }
        guard format.plaintextHeaderSize > 16 else { return nil }
        let wrong: (place: String, found: Int, expected: String)? =
            if DatabaseHeader.pageSize(page) != format.pageSize {
                ("bytes 16 and 17", page.bigEndian16(at: 16), "pages have \(format.pageSize) bytes")
            } else if !(1...2).contains(page[18]) {
                ("byte 18", Int(page[18]), "it must be 1 or 2")
            } else if !(1...2).contains(page[19]) {
                ("byte 19", Int(page[19]), "it must be 1 or 2")
            } else if Int(page[20]) < format.reserve {
                ("byte 20", Int(page[20]), "pages of the format reserve \(format.reserve) bytes")
            } else if PlaintextHeader.pageSize(page) == nil {
                ("byte 21, 22 or 23", Int(page[21]), "they must be 64, 32 and 32")
            } else {
                nil
            }
        guard let wrong else { return nil }
        let verb = wrong.place.hasPrefix("bytes") ? "are" : "is"
        description = "\(wrong.place) of the plaintext header \(verb) \(wrong.found), and \(wrong.expected)"
    }
}
