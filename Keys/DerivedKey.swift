/// The key that pages are encrypted with, and the salt of the file it belongs to: what every later connection needs,
/// without another derivation.
package struct DerivedKey: Sendable {
    private let pageKey: SecretBytes
    /// Not secret: a file shows it in its first 16 bytes.
    package let salt: [UInt8]

    init(pageKey: SecretBytes, salt: [UInt8]) {
        self.pageKey = pageKey
        self.salt = salt
    }

    /// Whether both encrypt pages with the same 32 bytes and have the same salt.
    package static func == (first: DerivedKey, second: DerivedKey) throws -> Bool {
        try first.hasSamePageKey(as: second) && first.salt == second.salt
    }

    /// Whether both encrypt pages with the same 32 bytes, whatever their salts.
    package func hasSamePageKey(as other: DerivedKey) throws -> Bool { try pageKey == other.pageKey }

    /// Gives the 32 bytes of the page key to `body`.
    package func withPageKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        try pageKey.withUnsafeBytes(body)
    }

    /// The key and salt as SQLCipher takes them without deriving: `x'`, 96 hexadecimal digits, `'` (99 bytes).
    package func literal() throws -> SecretBytes {
        try pageKey.withUnsafeBytes { key in
            try SecretBytes(count: 2 * (key.count + salt.count) + 3) { text in
                text[0] = UInt8(ascii: "x")
                text[1] = UInt8(ascii: "'")
                Hexadecimal.encode(key, into: UnsafeMutableRawBufferPointer(rebasing: text[2...]))
                let rest = UnsafeMutableRawBufferPointer(rebasing: text[(2 + 2 * key.count)...])
                salt.withUnsafeBytes { Hexadecimal.encode($0, into: rest) }
                text[text.count - 1] = UInt8(ascii: "'")
            }
        }
    }
}

extension DerivedKey: Redacted {
    package var description: String { "DerivedKey(redacted)" }
}
