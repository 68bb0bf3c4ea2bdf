/// An invalid key or secret. Found before any file is touched; it never carries the material itself.
public enum MalformedKey: Error, Equatable, Sendable {
    /// A passphrase without a byte. SQLCipher would leave the database in plaintext.
    case emptyPassphrase
    /// A passphrase of more than a mebibyte.
    case passphraseTooLong(count: Int)
    /// A raw key that has not 32 bytes, or with its salt not 48.
    case wrongLength(expected: Int, found: Int)
    /// A passphrase where a raw key is needed.
    case passphraseIsNoRawKey
    /// A salt that has not 16 bytes.
    case wrongSaltLength(expected: Int, found: Int)
    /// A key file or external secret of fewer than 32 bytes.
    case secretTooShort(count: Int)
    /// A character that is no hexadecimal digit, at this offset.
    case notHexadecimal(offset: Int)
    /// An odd number of hexadecimal digits.
    case oddNumberOfDigits(Int)
    /// So many hexadecimal digits, of which a raw key has 64, or 96 with its salt.
    case wrongNumberOfDigits(Int)
    /// Text of the form `x'…'` with other than 64 or 96 hexadecimal digits. SQLCipher would take it for a passphrase.
    case malformedLiteral
    /// A key file of so many bytes, which are no hexadecimal digits.
    case wrongKeyFileSize(count: Int)
    /// A passphrase of more than one line.
    case severalLines
    /// A passphrase that begins with a byte order mark, which an editor has put there.
    case byteOrderMark
    /// The group of this number of a recovery code, from 1, has a wrong character, or stands in another's place.
    case recoveryCodeMistyped(group: Int)
    /// Only so many groups of a recovery code are whole.
    case recoveryCodeTooShort(groups: Int)
    /// More than the eight groups of a recovery code.
    case recoveryCodeTooLong

    /// The most bytes a passphrase may have: one mebibyte.
    package static let longestPassphrase = 1 << 20

    /// Throws for a passphrase that is empty or too long.
    static func check(passphrase: SecretBytes) throws {
        let count = try passphrase.withUnsafeBytes(\.count)
        guard count > 0 else { throw MalformedKey.emptyPassphrase }
        guard count <= longestPassphrase else { throw MalformedKey.passphraseTooLong(count: count) }
    }
}

extension MalformedKey: DescribedError {
    /// A sentence with the error and what would be right.
    public var description: String {
        switch self {
        case .emptyPassphrase:
            "the passphrase is empty; give at least one byte"
        case .passphraseTooLong(let count):
            "the passphrase has \(count) bytes; the most is \(MalformedKey.longestPassphrase)"
        case .wrongLength(let expected, let found):
            "the raw key has \(found) bytes; \(expected) are needed"
                + ([64, 96].contains(found) ? "; hexadecimal digits are read by raw(hex:)" : "")
        case .passphraseIsNoRawKey:
            "a passphrase has no bytes of its own to export; only a raw key has"
        case .wrongSaltLength(let expected, let found):
            "the salt has \(found) bytes; \(expected) are needed"
        case .secretTooShort(let count):
            "the secret has \(count) bytes; at least 32 random ones are needed"
        case .notHexadecimal(let offset):
            "the key has an invalid hexadecimal digit at offset \(offset)"
        case .oddNumberOfDigits(let count):
            "the key has \(count) hexadecimal digits; 64 are needed, or 96 with its salt"
        case .wrongNumberOfDigits(let count):
            "the key has \(count) hexadecimal digits; 64 are needed, or 96 with its salt"
        case .malformedLiteral:
            "a key written as x'…' needs 64 hexadecimal digits, or 96 with its salt"
        case .wrongKeyFileSize(let count):
            "the key file has \(count) bytes; a raw key has 32, or 48 with its salt, or is written as 64 or 96 hexadecimal digits"
        case .severalLines:
            "the passphrase has more than one line; remove the others, and empty ones at the end"
        case .byteOrderMark:
            "the passphrase begins with a byte order mark; save it as UTF-8 without one"
        case .recoveryCodeMistyped(let group): "the recovery code is mistyped in group \(group)"
        case .recoveryCodeTooShort(let groups):
            "the recovery code ends after \(groups) whole groups; it has \(RecoveryCode.groupCount)"
        case .recoveryCodeTooLong:
            "the recovery code has more than \(RecoveryCode.groupCount) groups of five characters"
        }
    }
}
