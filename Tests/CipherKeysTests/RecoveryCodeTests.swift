import TestSupport
import Testing

@testable import CipherKeys

@Suite struct RecoveryCodeTests {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private static func text(_ code: RecoveryCode) throws -> String {
        try code.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private static func typed(_ text: String) throws -> RecoveryCode {
        try RecoveryCode(typed: SecretBytes(utf8: text))
    }

    @Test func typedCodeRoundTrips() throws {
        for _ in 0..<100 {
            let code = try RecoveryCode.random()
            #expect(try RecoveryCode(typed: code.text()) == code)
        }
    }

    @Test func codeHasNoAmbiguousLetters() throws {
        let text = try Self.text(.random())
        #expect(text.count == 47)
        let groups = text.split(separator: "-")
        #expect(groups.count == 8 && groups.allSatisfy { $0.count == 5 })
        #expect(groups.joined().allSatisfy(Self.alphabet.contains))
    }

    @Test func codeIgnoresCaseSpacesAndDashes() throws {
        let code = try RecoveryCode(bytes: SecretBytes(copying: Array(repeating: 0, count: 20)))
        let text = try Self.text(code)
        #expect(text.hasPrefix("0000") && text.contains("0000"))
        #expect(
            try Self.typed(" " + text.lowercased().replacing("-", with: "  ").replacing("0", with: "o") + "\n") == code
        )
        let ones = try RecoveryCode(typed: Self.typedOnes())
        #expect(try RecoveryCode(typed: SecretBytes(utf8: Self.text(ones).replacing("1", with: "l"))) == ones)
    }

    private static func typedOnes() throws -> SecretBytes {
        // 00001 00001 … in groups of five bits.
        let bits = (0..<160).map { $0 % 5 == 4 ? 1 : 0 }
        let bytes = stride(from: 0, to: 160, by: 8).map { start in
            bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | UInt8($1) }
        }
        return try RecoveryCode(bytes: SecretBytes(copying: bytes)).text()
    }

    @Test func wrongCharacterNamesItsGroup() throws {
        let characters = Array(try Self.text(.random()))
        for place in characters.indices where characters[place] != "-" {
            for other in Self.alphabet where other != characters[place] {
                var wrong = characters
                wrong[place] = other
                #expect(throws: MalformedKey.recoveryCodeMistyped(group: place / 6 + 1)) {
                    try Self.typed(String(wrong))
                }
            }
        }
    }

    @Test func exchangedCharactersAreDetected() throws {
        for _ in 0..<20 {
            let groups = try Self.text(.random()).split(separator: "-").map(Array.init)
            for group in groups.indices {
                for first in 0..<5 {
                    for second in 0..<first where groups[group][first] != groups[group][second] {
                        var wrong = groups
                        wrong[group].swapAt(first, second)
                        #expect(throws: MalformedKey.recoveryCodeMistyped(group: group + 1)) {
                            try Self.typed(wrong.map { String($0) }.joined())
                        }
                    }
                }
                for other in 0..<group where groups[group] != groups[other] {
                    var wrong = groups
                    wrong.swapAt(group, other)
                    #expect(throws: MalformedKey.recoveryCodeMistyped(group: other + 1)) {
                        try Self.typed(wrong.map { String($0) }.joined())
                    }
                }
            }
        }
    }

    @Test func wrongLengthIsReported() throws {
        let text = try Self.text(.random())
        #expect(throws: MalformedKey.recoveryCodeTooLong) { try Self.typed(text + "0") }
        #expect(throws: MalformedKey.recoveryCodeTooShort(groups: 7)) { try Self.typed(String(text.dropLast())) }
        #expect(throws: MalformedKey.recoveryCodeTooShort(groups: 0)) { try Self.typed("") }
        #expect(throws: MalformedKey.recoveryCodeMistyped(group: 1)) { try Self.typed("é") }
    }
}
