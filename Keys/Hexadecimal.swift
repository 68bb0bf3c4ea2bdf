/// Hexadecimal digits to bytes and back, without tables: an index by a secret nibble would show in the cache.
package enum Hexadecimal {
    /// The bytes that `digits` (ASCII) spell; strict: an even number, and nothing but digits of either case.
    package static func decode(_ digits: UnsafeRawBufferPointer) throws -> SecretBytes {
        for index in digits.indices where value(digits[index]) < 0 { throw MalformedKey.notHexadecimal(offset: index) }
        guard digits.count.isMultiple(of: 2) else { throw MalformedKey.oddNumberOfDigits(digits.count) }
        return try SecretBytes(count: digits.count / 2) { bytes in
            for index in bytes.indices {
                let high = value(digits[2 * index])
                let low = value(digits[2 * index + 1])
                bytes[index] = UInt8(high << 4 | low)
            }
        }
    }

    /// Writes the lower-case digits of `bytes` to the start of `digits`.
    static func encode(_ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableRawBufferPointer) {
        for index in bytes.indices {
            digits[2 * index] = digit(bytes[index] >> 4)
            digits[2 * index + 1] = digit(bytes[index] & 15)
        }
    }

    /// Whether it is a digit, of either case.
    static func isDigit(_ character: UInt8) -> Bool { value(character) >= 0 }

    /// -1 for what is no digit.
    private static func value(_ character: UInt8) -> Int {
        let character = Int(character)
        // Each mask is all ones inside its range and zero outside.
        func mask(_ first: Int, _ last: Int) -> Int { ~((character - first) >> 63) & ~((last - character) >> 63) }
        let decimal = mask(0x30, 0x39)
        let upper = mask(0x41, 0x46)
        let lower = mask(0x61, 0x66)
        return (decimal & (character - 0x30)) | (upper & (character - 0x37)) | (lower & (character - 0x57))
            | ~(decimal | upper | lower)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        // 0x30 + n below ten; 0x27 more, which makes "a", from ten on.
        let isLetter = UInt8(truncatingIfNeeded: (9 - Int(nibble)) >> 63)
        return 0x30 + nibble + (isLetter & 0x27)
    }
}
