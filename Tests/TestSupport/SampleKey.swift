package import CipherKeys

/// One key in two spellings: ours, and that of a stock shell's pragma.
package struct SampleKey: Sendable, CustomStringConvertible {
    package let description: String
    package let key: DatabaseKey
    /// What stands after `PRAGMA` in a shell.
    package let pragma: String

    init(_ description: String, _ key: @autoclosure () throws -> DatabaseKey, pragma: String) {
        self.description = description
        self.pragma = pragma
        guard let key = try? key() else { preconditionFailure("the sample key \(description) is malformed") }
        self.key = key
    }

    private static func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes) }

    private static func passphrase(_ description: String, _ text: String) -> SampleKey {
        SampleKey(
            description,
            try .passphrase(text),
            pragma: "key = '\(text.replacing("'", with: "''"))'"
        )
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A raw key of its own for each `name`: it opens without a derivation.
    package static func named(_ name: String) -> SampleKey {
        SampleKey(name, try .sample(name), pragma: "key = \"\(String.sampleKey(name))\"")
    }

    /// A passphrase of each kind, binary key data, and raw keys without and with a salt.
    package static let all: [SampleKey] = make()

    /// By default those without a derivation, on the oldest and the newest engine the first passphrase, and this engine's share of
    /// the others.
    package static let some =
        Extent.isComplete
        ? all : (Extent.isAnEndOfTheMatrix ? [all[0]] : []) + Extent.share(Array(all[1...4])) + all[5...]

    /// A raw key, and on the oldest and the newest engine a passphrase.
    package static let few = (Extent.isAnEndOfTheMatrix ? [all[0]] : []) + [all[5]]

    private static func make() -> [SampleKey] {
        // At most 40 bytes: a shell cuts PRAGMA hexkey off there.
        let binary: [UInt8] = [0, 255, 0, 1, 39, 34, 0, 128] + (0..<24).map { UInt8($0 * 7) }
        let raw = (0..<32).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
        let salt = (0..<16).map { UInt8(truncatingIfNeeded: $0 * 91 + 5) }
        return [
            passphrase("ASCII", "correct horse battery staple"),
            passphrase("UTF-8", "pässwörd 密码 🔑"),
            passphrase("quotes", #"it's "quoted"; -- '' \ end"#),
            passphrase("1 KiB", String(repeating: "0123456789abcdef", count: 64)),
            SampleKey(
                "binary with NULs",
                try .passphrase(secret(binary)),
                pragma: "hexkey = '\(hexadecimal(binary))'"
            ),
            SampleKey("raw", try .raw(secret(raw)), pragma: "key = \"x'\(hexadecimal(raw))'\""),
            SampleKey(
                "raw with salt",
                try .rawWithSalt(secret(raw + salt)),
                pragma: "key = \"x'\(hexadecimal(raw + salt))'\""
            ),
        ]
    }
}
