import CipherDB
import CipherKeys
internal import CipherSystem

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
