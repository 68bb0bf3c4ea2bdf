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
