/// Secrets that are written as text, looked at where they lie.
enum SecretText {
    /// Whether the bytes are UTF-8 without a NUL, as a person writes it.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var (decoder, rest) = (UTF8(), bytes.makeIterator())
        while true {
            switch decoder.decode(&rest) {
            case .scalarValue(let scalar): if scalar.value == 0 { return false }
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    /// The hexadecimal digits of a key in the spellings of other programs: `x'…'` also in double quotes, or `0x…`; white space
    /// anywhere and a byte order mark are left out.
    ///
    /// - Returns: The digits, and whether they stood in `x'…'`.
    /// - Throws: ``MalformedKey`` for what is no text, and for another character, with its offset.
    static func digits(_ text: SecretBytes) throws -> (digits: SecretBytes, isLiteral: Bool) {
        try text.withUnsafeBytes { bytes in
            guard bytes.allSatisfy({ $0 < 0x7F && ($0 >= 0x20 || isSpace($0)) }) || bytes.starts(with: mark) else {
                throw MalformedKey.wrongKeyFileSize(count: bytes.count)
            }
            var content = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
            trim(&content)
            if content.count >= 2, content.first == quote, content.last == quote {
                content = content.dropFirst().dropLast()
            }
            let isLiteral =
                content.count >= 3 && (content.first ?? 0) | 0x20 == UInt8(ascii: "x")
                && content.dropFirst().first == UInt8(ascii: "'") && content.last == UInt8(ascii: "'")
            if isLiteral {
                content = content.dropFirst(2).dropLast()
            } else if content.first == UInt8(ascii: "0"), (content.dropFirst().first ?? 0) | 0x20 == UInt8(ascii: "x") {
                content = content.dropFirst(2)
            }
            if let wrong = content.indices.first(where: { !isSpace(content[$0]) && !Hexadecimal.isDigit(content[$0]) })
            {
                throw isLiteral ? MalformedKey.malformedLiteral : MalformedKey.notHexadecimal(offset: wrong)
            }
            var count = 0
            let digits = try SecretBytes(count: content.count) { digits in
                for byte in content where !isSpace(byte) {
                    digits[count] = byte
                    count += 1
                }
            }
            return (try digits.prefix(count), isLiteral)
        }
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let quote = UInt8(ascii: "\"")

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func trim(_ content: inout Slice<UnsafeRawBufferPointer>) {
        while let first = content.first, isSpace(first) { content = content.dropFirst() }
        while let last = content.last, isSpace(last) { content = content.dropLast() }
    }
}

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
