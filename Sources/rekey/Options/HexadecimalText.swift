/// Hexadecimal digits as other programs and `rekey` itself write them.
enum HexadecimalText {
    /// The digits of `0x…` and of SQLCipher's `x'…'`; other text as it is.
    static func digits(_ text: String) -> String {
        if text.hasPrefix("0x") || text.hasPrefix("0X") { return String(text.dropFirst(2)) }
        let isLiteral = text.count > 2 && text.lowercased().hasPrefix("x'") && text.hasSuffix("'")
        return isLiteral ? String(text.dropFirst(2).dropLast()) : text
    }
}
