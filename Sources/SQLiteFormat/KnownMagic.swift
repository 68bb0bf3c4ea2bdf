/// Kinds of file that are no database, by their first bytes. Compressed and encrypted ones have no pattern, like an encrypted database.
///
/// Each is known by 32 bits or more: an encrypted database begins with a random salt, and must not be taken for one of these.
package struct KnownMagic: Sendable {
    /// Such as `gzip data`.
    package let name: String
    /// Nil stands for any byte.
    private let bytes: [UInt8?]

    private init(_ name: String, _ bytes: [UInt8?]) {
        self.name = name
        self.bytes = bytes
    }

    private init(_ name: String, text: String, _ rest: [UInt8?] = []) {
        self.init(name, Array(text.utf8) + rest)
    }

    /// The kind of the file that begins with `beginning`; nil where it is none of these.
    package static func name(of beginning: some Collection<UInt8>) -> String? {
        all.first { $0.matches(beginning) }?.name
    }

    /// The kind of the file; nil where it is none of these.
    package static func name(of source: some PageSource) throws -> String? {
        name(of: try source.read(longest, at: 0))
    }

    private func matches(_ beginning: some Collection<UInt8>) -> Bool {
        beginning.count >= bytes.count && zip(bytes, beginning).allSatisfy { $0 == nil || $0 == $1 }
    }

    private static let longest = all.map(\.bytes.count).max() ?? 0

    private static let all: [KnownMagic] = [
        // Deflate, without a name, or with one as `gzip FILE` writes it, on Unix or an unknown system.
        KnownMagic("gzip data", [0x1F, 0x8B, 0x08, 0x00, nil, nil, nil, nil, nil, 0x03]),
        KnownMagic("gzip data", [0x1F, 0x8B, 0x08, 0x00, nil, nil, nil, nil, nil, 0xFF]),
        KnownMagic("gzip data", [0x1F, 0x8B, 0x08, 0x08, nil, nil, nil, nil, nil, 0x03]),
        KnownMagic("gzip data", [0x1F, 0x8B, 0x08, 0x08, nil, nil, nil, nil, nil, 0xFF]),
        KnownMagic("bzip2 data", text: "BZh", [nil, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59]),
        KnownMagic("xz data", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
        KnownMagic("Zstandard data", [0x28, 0xB5, 0x2F, 0xFD]),
        KnownMagic("LZ4 data", [0x04, 0x22, 0x4D, 0x18]),
        KnownMagic("a ZIP archive", [0x50, 0x4B, 0x03, 0x04]),
        KnownMagic("a ZIP archive", [0x50, 0x4B, 0x05, 0x06]),
        KnownMagic("a 7z archive", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
        KnownMagic("a RAR archive", text: "Rar!\u{1A}\u{07}"),
        KnownMagic("a LUKS volume", text: "LUKS", [0xBA, 0xBE]),
        KnownMagic("data encrypted by age", text: "age-encryption.org/"),
        KnownMagic("data encrypted by age", text: "-----BEGIN AGE ENCRYPTED FILE"),
        KnownMagic("an OpenPGP message", text: "-----BEGIN PGP"),
        // A passphrase's packet, version 4, AES, an iterated and salted function; a key's packet, version 3, for RSA and ECDH.
        KnownMagic("an OpenPGP message", [0x8C, 0x0D, 0x04, 0x07, 0x03]),
        KnownMagic("an OpenPGP message", [0x8C, 0x0D, 0x04, 0x08, 0x03]),
        KnownMagic("an OpenPGP message", [0x8C, 0x0D, 0x04, 0x09, 0x03]),
        KnownMagic("an OpenPGP message", [0x85, 0x01, 0x0C, 0x03]),
        KnownMagic("an OpenPGP message", [0x85, 0x02, 0x0C, 0x03]),
        KnownMagic("an OpenPGP message", [0x84, 0x5E, 0x03, nil, nil, nil, nil, nil, nil, nil, nil, 0x12]),
        KnownMagic("an OpenSSL salted file", text: "Salted__"),
        KnownMagic("a keyring of CipherDB", text: "CipherKR"),
        KnownMagic("a SQLite write-ahead log", [0x37, 0x7F, 0x06, 0x82]),
        KnownMagic("a SQLite write-ahead log", [0x37, 0x7F, 0x06, 0x83]),
        KnownMagic("a SQLite rollback journal", [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]),
        KnownMagic("a PNG image", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        KnownMagic("a JPEG image", [0xFF, 0xD8, 0xFF, 0xE0]),
        KnownMagic("a JPEG image", [0xFF, 0xD8, 0xFF, 0xE1]),
        KnownMagic("a GIF image", text: "GIF8"),
        KnownMagic("a PDF document", text: "%PDF-"),
        KnownMagic("an ELF program", [0x7F, 0x45, 0x4C, 0x46]),
    ]
}
