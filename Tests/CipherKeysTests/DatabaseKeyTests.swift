import Testing

@testable import CipherKeys

@Suite struct DatabaseKeyTests {
    static let digits64 = String(repeating: "0123456789abcDEF", count: 4)
    static let digits96 = String(repeating: "0123456789abcDEF", count: 6)

    @Test func emptyPassphraseIsRefused() {
        #expect(throws: MalformedKey.emptyPassphrase) { try DatabaseKey.passphrase("") }
        #expect(throws: MalformedKey.emptyPassphrase) { try DatabaseKey.engineBytes(SecretBytes(copying: [])) }
    }

    @Test func passphraseIsAtMostOneMebibyte() throws {
        let longest = try SecretBytes(count: 1 << 20) { _ in }
        #expect(try DatabaseKey.passphrase(longest).isPassphrase)
        let longer = try SecretBytes(count: 1 << 20 + 1) { _ in }
        #expect(throws: MalformedKey.passphraseTooLong(count: 1 << 20 + 1)) { try DatabaseKey.passphrase(longer) }
    }

    @Test(arguments: [0, 1, 31, 33, 48, 64])
    func rawKeyHasThirtyTwoBytes(count: Int) throws {
        let bytes = try SecretBytes(count: count) { _ in }
        #expect(throws: MalformedKey.wrongLength(expected: 32, found: count)) { try DatabaseKey.raw(bytes) }
    }

    @Test func rawKeyIsStoredAndReadBack() throws {
        let key = try DatabaseKey.random()
        #expect(try DatabaseKey.raw(hex: key.exported()) == key)
        let salted = try key.with(salt: Array(0..<16))
        #expect(try salted.exported().count == 96 && DatabaseKey.raw(hex: salted.exported()) == salted)
        #expect(try DatabaseKey.raw(Array(0..<32)) == DatabaseKey.raw(SecretBytes(copying: Array(0..<32))))
        #expect(throws: MalformedKey.wrongLength(expected: 32, found: 31)) { try DatabaseKey.raw(Array(0..<31)) }
        #expect(throws: MalformedKey.passphraseIsNoRawKey) { try DatabaseKey.passphrase("secret").exported() }
    }

    @Test func digitsAsRawKeyNameRightCall() throws {
        let digits = try SecretBytes(utf8: String(repeating: "0a", count: 32))
        #expect { try DatabaseKey.raw(digits) } throws: { "\($0)".contains("raw(hex:)") }
        #expect(!"\(MalformedKey.wrongLength(expected: 32, found: 31))".contains("hex"))
        _ = try DatabaseKey.raw(hex: digits)
    }

    @Test(arguments: [0, 32, 47, 49, 80])
    func rawKeyWithSaltHasFortyEightBytes(count: Int) throws {
        let bytes = try SecretBytes(count: count) { _ in }
        #expect(throws: MalformedKey.wrongLength(expected: 48, found: count)) { try DatabaseKey.rawWithSalt(bytes) }
    }

    @Test func hexadecimalDigitsOfEitherCaseAreRead() throws {
        let upper = try DatabaseKey.raw(hex: Self.digits64.uppercased())
        #expect(try upper == DatabaseKey.raw(hex: Self.digits64.lowercased()))
        #expect(try DatabaseKey.raw(hex: Self.digits96).salt?.count == 16)
    }

    /// As SQLCipher reads it.
    @Test func passphraseSpelledAsLiteralIsRawKey() throws {
        for digits in [Self.digits64, Self.digits96] {
            for spelling in ["x'\(digits)'", "X'\(digits)'"] {
                #expect(try DatabaseKey.passphrase(spelling) == .raw(hex: digits))
                #expect(try DatabaseKey.engineBytes(SecretBytes(utf8: spelling)) == .raw(hex: digits))
            }
        }
        // 4.19 has a third form, of 160 digits, which others take for a passphrase.
        for digits in ["", "ab", String(Self.digits64.dropLast()), Self.digits64 + Self.digits96] {
            #expect(throws: MalformedKey.malformedLiteral) { try DatabaseKey.passphrase("x'\(digits)'") }
        }
        for text in [Self.digits64, "x'men'", "x\"\(Self.digits64)\"", "x'\(Self.digits64)", " x'\(Self.digits64)'"] {
            #expect(try DatabaseKey.passphrase(text).isPassphrase)
        }
    }

    @Test func hexadecimalRoundTripsEveryByte() throws {
        let bytes = (0...255).map { UInt8($0) }
        let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let decoded = try SecretBytes(utf8: text).withUnsafeBytes { try Hexadecimal.decode($0) }
        #expect(try decoded.withUnsafeBytes { Array($0) } == bytes)
        let encoded = try SecretBytes(count: 512) { digits in
            try decoded.withUnsafeBytes { Hexadecimal.encode($0, into: digits) }
        }
        #expect(try encoded.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test func invalidDigitIsNamedByPosition() throws {
        let allowed = Set("0123456789abcdefABCDEF".utf8)
        for character in UInt8.min...UInt8.max where !allowed.contains(character) {
            for offset in [0, 1, 37, 63] {
                var text = Array(Self.digits64.utf8)
                text[offset] = character
                let digits = try SecretBytes(copying: text)
                #expect(throws: MalformedKey.notHexadecimal(offset: offset)) { try DatabaseKey.raw(hex: digits) }
            }
        }
    }

    @Test func oddNumberOfDigitsIsRefused() {
        #expect(throws: MalformedKey.oddNumberOfDigits(63)) {
            try DatabaseKey.raw(hex: String(Self.digits64.dropLast()))
        }
    }

    @Test func digitsOfAnotherLengthAreRefused() {
        #expect(throws: MalformedKey.wrongLength(expected: 32, found: 31)) {
            try DatabaseKey.raw(hex: String(Self.digits64.dropLast(2)))
        }
        #expect(throws: MalformedKey.wrongLength(expected: 32, found: 0)) { try DatabaseKey.raw(hex: "") }
    }

    @Test func bytesArePassphrase() throws {
        #expect(try DatabaseKey.passphrase(Array("secret".utf8)) == .passphrase("secret"))
        #expect(try DatabaseKey.passphrase([0, 255] as [UInt8]).isPassphrase)
        #expect(try DatabaseKey.passphrase(Array("x'\(Self.digits64)'".utf8)) == .raw(hex: Self.digits64))
        #expect(throws: MalformedKey.emptyPassphrase) { try DatabaseKey.passphrase([UInt8]()) }
    }

    @Test func engineBytesReadRawKeyLiteral() throws {
        func key(_ text: String) throws -> DatabaseKey { try .engineBytes(SecretBytes(utf8: text)) }
        #expect(try key("x'\(Self.digits64)'") == .raw(hex: Self.digits64))
        #expect(try key("X'\(Self.digits96)'") == .raw(hex: Self.digits96))
        for passphrase in ["secret", "x'", "x'abc", "'\(Self.digits64)'", "x\"\(Self.digits64)\"", Self.digits64] {
            #expect(try key(passphrase) == .passphrase(passphrase))
        }
        #expect(try DatabaseKey.engineBytes(SecretBytes(count: 32) { _ in }).isPassphrase)
    }

    @Test(arguments: [0, 2, 62, 63, 65, 66, 94, 128, 160])
    func literalOfAnotherLengthIsRefused(count: Int) throws {
        let text = "x'" + String(repeating: "a", count: count) + "'"
        #expect(throws: MalformedKey.malformedLiteral) { try DatabaseKey.engineBytes(SecretBytes(utf8: text)) }
    }

    @Test func printingShowsKindOnly() throws {
        for key in [try DatabaseKey.passphrase("hunter2"), try .raw(hex: Self.digits64), try .raw(hex: Self.digits96)] {
            var dumped = ""
            dump(key, to: &dumped)
            for text in ["\(key)", String(reflecting: key), dumped] {
                #expect(text.contains("redacted"))
                #expect(!text.contains("hunter2") && !text.lowercased().contains("0123"))
            }
        }
    }

    @Test func malformedKeyErrorHidesContent() throws {
        var text = ""
        do { _ = try DatabaseKey.raw(hex: "hunter2g") } catch { text = "\(error)" }
        #expect(text.contains("offset 0") && !text.contains("hunter2"))
    }
}
