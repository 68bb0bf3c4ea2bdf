/// A random secret to write down and type: eight groups of five characters, such as `7KQ2M-X40TB-…`.
///
/// 160 bits, in Crockford's alphabet, which has neither I, L, O nor U. The fifth character of each group proves the four
/// before it and the group's place: one wrong character, two exchanged ones and two exchanged groups are told, with the
/// number of the group.
public struct RecoveryCode: Sendable {
    /// Groups in a code.
    package static let groupCount = 8
    private static let groupSize = 5
    private static let byteCount = groupCount * 4 * 5 / 8

    /// The 20 random bytes.
    let bytes: SecretBytes
    /// Whether somebody typed it, who so has it on paper.
    let isTyped: Bool

    /// A new one.
    public static func random() throws -> RecoveryCode {
        RecoveryCode(bytes: try SecretBytes.random(count: byteCount))
    }

    init(bytes: SecretBytes) {
        self.bytes = bytes
        isTyped = false
    }

    /// Reads what was typed, such as the text of a field. A `String` cannot be wiped; see ``SecretBytes/init(utf8:)``.
    ///
    /// - Throws: as ``init(typed:)-(SecretBytes)``.
    public init(typed text: String) throws {
        try self.init(typed: SecretBytes(utf8: text))
    }

    /// Reads what was typed (ASCII). Case, spaces and dashes do not matter; an I or L is a 1, and an O a 0.
    ///
    /// - Throws: ``MalformedKey/recoveryCodeMistyped(group:)`` with the first group that is wrong, or another ``MalformedKey``.
    public init(typed text: SecretBytes) throws {
        let size = RecoveryCode.groupSize
        let digits = try SecretBytes(count: RecoveryCode.groupCount * size) { digits in
            var count = 0
            try text.withUnsafeBytes { text in
                for character in text where ![0x20, 0x2d, 0x09, 0x0a, 0x0d].contains(character) {
                    guard count < digits.count else { throw MalformedKey.recoveryCodeTooLong }
                    guard let value = RecoveryCode.value(of: character) else {
                        throw MalformedKey.recoveryCodeMistyped(group: count / size + 1)
                    }
                    digits[count] = value
                    count += 1
                }
            }
            for group in 0..<(count / size) {
                let part = UnsafeRawBufferPointer(rebasing: digits[(group * size)..<((group + 1) * size)])
                guard RecoveryCode.check(part, group) == part[size - 1] else {
                    throw MalformedKey.recoveryCodeMistyped(group: group + 1)
                }
            }
            guard count == digits.count else { throw MalformedKey.recoveryCodeTooShort(groups: count / size) }
        }
        isTyped = true
        bytes = try SecretBytes(count: RecoveryCode.byteCount) { bytes in
            try digits.withUnsafeBytes { digits in
                for bit in 0..<(bytes.count * 8) {
                    // Four of five digits carry the code.
                    let digit = digits[bit / 20 * size + bit % 20 / 5]
                    bytes[bit / 8] |= (digit >> (4 - bit % 5) & 1) << (7 - bit % 8)
                }
            }
        }
    }

    /// The code as it is shown: 47 ASCII characters, with a dash between two groups.
    public func text() throws -> SecretBytes {
        let size = RecoveryCode.groupSize
        return try SecretBytes(count: RecoveryCode.groupCount * (size + 1) - 1) { text in
            try bytes.withUnsafeBytes { bytes in
                for group in 0..<RecoveryCode.groupCount {
                    let digits = try SecretBytes(count: size) { digits in
                        for bit in 0..<20 {
                            let place = group * 20 + bit
                            digits[bit / 5] |= (bytes[place / 8] >> (7 - place % 8) & 1) << (4 - bit % 5)
                        }
                        digits[size - 1] = RecoveryCode.check(UnsafeRawBufferPointer(digits), group)
                    }
                    try digits.withUnsafeBytes { digits in
                        for index in 0..<size {
                            text[group * (size + 1) + index] = RecoveryCode.character(digits[index])
                        }
                    }
                    if group > 0 { text[group * (size + 1) - 1] = UInt8(ascii: "-") }
                }
            }
        }
    }

    // MARK: Digits

    /// The check digit of a group: the sum of its digits, each times another power of x in the field of 32 elements, and of
    /// a number for the group's place. So each change of one digit changes it, and each exchange of two digits or groups.
    private static func check(_ digits: UnsafeRawBufferPointer, _ group: Int) -> UInt8 {
        var sum = UInt8(group + 1)
        for index in (0..<(groupSize - 1)).reversed() { sum ^= power(digits[index], index + 1) }
        return sum
    }

    /// `digit` times x to the power of `exponent`, in the field of 32 elements by x⁵ + x² + 1.
    private static func power(_ digit: UInt8, _ exponent: Int) -> UInt8 {
        var value = digit
        for _ in 0..<exponent { value = value << 1 ^ (value >> 4 & 1) * 0b100101 }
        return value
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    // Neither indexes a table by a secret, nor stops where it is found: both would show in the cache or the time.

    private static func character(_ digit: UInt8) -> UInt8 {
        alphabet.indices.reduce(0) { $0 | alphabet[$1] & mask(digit, UInt8($1)) }
    }

    private static func value(of character: UInt8) -> UInt8? {
        var (value, found): (UInt8, UInt8) = (0, 0)
        func take(_ letter: UInt8, _ number: UInt8) {
            // Lower case differs from upper by one bit; digits and signs do not have it to lose.
            let isSame = mask(character, letter) | (letter > 0x40 ? mask(character, letter | 0x20) : 0)
            value |= number & isSame
            found |= isSame
        }
        for index in alphabet.indices { take(alphabet[index], UInt8(index)) }
        for (letter, number) in [("I", 1), ("L", 1), ("O", 0)] as [(Unicode.Scalar, UInt8)] {
            take(UInt8(ascii: letter), number)
        }
        return found == 0 ? nil : value
    }

    /// All ones where both are the same, else zero.
    private static func mask(_ left: UInt8, _ right: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(left ^ right) &- 1) >> 8)
    }
}

extension RecoveryCode {
    /// Whether both are the same code, in a time that does not depend on where they differ.
    ///
    /// - Throws: ``UsedAfterFork`` in a child of the process that made one of them.
    public static func == (left: RecoveryCode, right: RecoveryCode) throws -> Bool { try left.bytes == right.bytes }
}

extension RecoveryCode: Redacted {
    /// Nothing of the code; see ``text()``.
    public var description: String { "RecoveryCode(redacted)" }
}
