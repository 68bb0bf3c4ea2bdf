/// The key that pages are encrypted with, and the salt of the file it belongs to: what every later connection needs,
/// without another derivation.
package struct DerivedKey: Sendable, Equatable {
    /// 32 bytes of key, then 16 bytes of salt.
    private let secret: SecretBytes

    init(key: UnsafeRawBufferPointer, salt: [UInt8]) throws {
        secret = try SecretBytes(count: CipherFormat.keySize + CipherFormat.saltSize) { bytes in
            bytes.copyBytes(from: key)
            bytes[CipherFormat.keySize...].copyBytes(from: salt)
        }
    }

    /// The salt, which is not secret: a file shows it in its first 16 bytes.
    package var salt: [UInt8] {
        secret.withUnsafeBytes { Array($0[CipherFormat.keySize...]) }
    }

    /// Whether both encrypt pages with the same 32 bytes, whatever their salts.
    package func hasSamePageKey(as other: DerivedKey) -> Bool {
        withPageKey { mine in other.withPageKey { OpenSSL.constantTimeEqual(mine, $0) } }
    }

    /// Gives the 32 bytes of the page key to `body`.
    package func withPageKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try secret.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<CipherFormat.keySize])) }
    }

    /// The key and salt as SQLCipher takes them without deriving: `x'`, 96 hexadecimal digits, `'` (99 bytes).
    package func literal() throws -> SecretBytes {
        try secret.withUnsafeBytes { bytes in
            try SecretBytes(count: 2 * bytes.count + 3) { text in
                text[0] = UInt8(ascii: "x")
                text[1] = UInt8(ascii: "'")
                Hexadecimal.encode(bytes, into: UnsafeMutableRawBufferPointer(rebasing: text[2...]))
                text[text.count - 1] = UInt8(ascii: "'")
            }
        }
    }
}

extension DerivedKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "DerivedKey(redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
