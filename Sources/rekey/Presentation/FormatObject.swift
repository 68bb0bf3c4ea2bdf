import CipherDB
import CipherKeys
internal import CipherSystem
import Rekeying

/// All parameters of a format as the commands print them.
struct FormatObject: Encodable {
    let version: Int
    let pageSize: Int
    let kdfAlgorithm: String
    let kdfIter: Int
    let hmacAlgorithm: String
    let hmacPgno: String
    let hmacSaltMask: String
    let fastKdfIter: Int
    let hmacKeyKdfAlgorithm: String
    let plaintextHeader: Int

    init(_ format: CipherFormat) {
        version = format.version
        pageSize = format.pageSize
        kdfAlgorithm = format.keyDerivation.optionName
        kdfIter = format.iterations
        hmacAlgorithm = format.pageAuthentication?.optionName ?? "none"
        hmacPgno = format.pageNumberOrder.rawValue
        hmacSaltMask = format.hexadecimalMask
        fastKdfIter = format.macKeyIterations
        hmacKeyKdfAlgorithm = (format.macKeyDerivation ?? format.keyDerivation).optionName
        plaintextHeader = format.plaintextHeaderSize
    }

    /// Every parameter, with the name that SQLCipher has for it where it is not obvious.
    static func lines(_ format: CipherFormat, isUnderRawKey: Bool) -> [(String, String)] {
        let object = FormatObject(format)
        return [
            ("format", "SQLCipher \(format.version)"),
            ("page size", "\(format.pageSize) bytes"),
            (
                "KDF",
                isUnderRawKey
                    ? "none: the key is raw"
                    : "PBKDF2-HMAC-\(format.keyDerivation.rawValue), \(format.iterations.counted("iteration"))"
            ),
            ("MAC", format.pageAuthentication.map { "HMAC-\($0.rawValue)" } ?? "none"),
            ("page numbers in MACs", format.pageNumberOrder == .littleEndian ? "little-endian" : "big-endian"),
            (
                "HMAC key",
                "PBKDF2-HMAC-\((format.macKeyDerivation ?? format.keyDerivation).rawValue), \(format.macKeyIterations.counted("iteration")), salt mask 0x\(object.hmacSaltMask)"
            ),
            ("plaintext header", "\(format.plaintextHeaderSize) bytes"),
        ]
    }

    /// What nobody knows about the content of a file without MACs.
    static let noteOnMissingMACs = (
        "note",
        "the pages of the file had no MACs: nothing proves that they are what was written; MACs may also have been removed to alter pages"
    )

    /// What a file without MACs is not protected against.
    static let noteOnMACs = (
        "note",
        "the pages have no MACs: damage and tampering are not detected; only SQLite's integrity check sees some of it"
    )
}

extension CipherFormat {
    /// Such as `SQLCipher 4`, with what is not the version's own, other than the page size.
    var nameAndDifferences: String {
        "SQLCipher \(version)" + (differences.isEmpty ? "" : " (\(differences.joined(separator: ", ")))")
    }
}

extension HashAlgorithm {
    /// As the options of the command have it.
    fileprivate var optionName: String { rawValue.lowercased() }
}

extension CipherFormat {
    /// The options that name this format where it is not found, such as `--file-hmac-salt-mask 55`.
    var fileOptions: String {
        // The options have the names of the pragmas, without `cipher_` and `_size`.
        let options = pragmas.map { name, value in
            let words = name.split(separator: "_").filter { !["cipher", "size"].contains($0) }
            return "--file-\(words.joined(separator: "-")) \(value)"
        }
        return options.isEmpty ? "--file-format \(version)" : options.joined(separator: " ")
    }
}

/// What is said on standard error of a file that was written in an old format, because the engine has no newer one.
enum OldFormatNote {
    static func tell(_ file: String, _ done: RewriteResult) {
        guard let format = done.format, format.version != done.previousFormat?.version,
            format.version < CipherFormat.v4.version, (try? Engine.current.ownFormat())?.version == format.version
        else { return }
        Output.tellLine(
            "rekey: \(file): written in format \(format.version), the newest of SQLCipher \(Engine.current.sqlcipherVersion ?? ""); for format \(CipherFormat.v4.version) install a "
                + "rekey for SQLCipher 4, on Debian 12 that of bookworm-backports, and run `rekey migrate`",
            clearing: true
        )
    }
}
