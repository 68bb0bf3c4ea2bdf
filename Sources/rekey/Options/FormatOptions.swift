import ArgumentParser
import CipherDB
import CipherKeys
import Rekeying

/// The format of a new file.
struct FormatOptions: ParsableArguments {
    @OptionGroup var parameters: FormatParameters<NewFormat>

    @Option(
        help: ArgumentHelp(
            "PBKDF2 iterations of the new file. Other numbers than 4000, 64000 and 256000 then need --file-kdf-iter.",
            valueName: "number"
        )
    )
    var kdfIter: Int?

    @Flag(help: "Allow a format that is weaker than the file's own, or than the version's.")
    var allowWeaker = false

    /// The parameters that the options name.
    var change: FormatChange {
        var change = parameters.change
        change.iterations = kdfIter
        return change
    }
}

/// Whose format the options describe.
protocol FormatRole: OptionRole {
    /// Of the help texts.
    static var file: String { get }
    /// The page sizes, for the help.
    static var pageSizes: String { get }
}

/// The format of a new file.
enum NewFormat: FormatRole {
    static let prefix = ""
    static let file = "the new file"
    static let pageSizes = "1024 to 65536"
}

/// The format of the file as it is, where it cannot be found.
enum FileFormat: FormatRole {
    static let prefix = "file-"
    static let file = "the file, if it is not found"
    static let pageSizes = "512 to 65536"
}

extension FormatRole {
    fileprivate static func help(_ what: String, _ valueName: String) -> ArgumentHelp {
        ArgumentHelp("\(what) of \(file).", valueName: valueName)
    }
}

/// Parameters of a format, named after SQLCipher's pragmas.
struct FormatParameters<Role: FormatRole>: ParsableArguments {
    @Option(name: Role.name("format"), help: Role.help("SQLCipher format, 1 to 4,", "number"))
    var format: Int?

    @Option(
        name: [.customLong(Role.prefix + "cipher-page-size"), .customLong(Role.prefix + "page-size")],
        help: Role.help("Page size, a power of two from \(Role.pageSizes),", "bytes")
    )
    var pageSize: Int?

    @Option(name: Role.name("kdf-algorithm"), help: Role.help("Hash of PBKDF2 (sha1, sha256, sha512)", "hash"))
    var kdfAlgorithm: HashOption?

    @Option(name: Role.name("hmac-algorithm"), help: Role.help("Hash of the MACs, or none,", "hash"))
    var hmacAlgorithm: HMACOption?

    @Option(
        name: Role.name("hmac-pgno"),
        help: Role.help("Byte order of page numbers in MACs (le, be, native)", "order")
    )
    var hmacPgno: PageNumberOption?

    @Option(name: Role.name("hmac-salt-mask"), help: Role.help("Mask of the HMAC key's salt, two hex digits,", "byte"))
    var hmacSaltMask: MaskOption?

    @Option(name: Role.name("fast-kdf-iter"), help: Role.help("PBKDF2 iterations for the HMAC key", "number"))
    var fastKdfIter: Int?

    @Option(name: Role.name("plaintext-header"), help: Role.help("Bytes of the plaintext header", "bytes"))
    var plaintextHeader: Int?

    /// The parameters that the options name.
    var change: FormatChange {
        var change = FormatChange()
        change.version = format
        change.pageSize = pageSize
        change.keyDerivation = kdfAlgorithm?.hash
        change.pageAuthentication = hmacAlgorithm?.hash
        change.pageNumberOrder = hmacPgno?.order
        change.macSaltMask = hmacSaltMask?.byte
        change.macKeyIterations = fastKdfIter
        change.plaintextHeaderSize = plaintextHeader
        return change
    }

    var isGiven: Bool { change != FormatChange() }

    /// The parameters in the formats of all versions, where the options name none. Without MACs only if an option says so: it would be
    /// permitted then.
    var formatsOfOtherVersions: [CipherFormat] {
        guard format == nil else { return [] }
        return CipherFormat.standard.compactMap { standard in
            var change = change
            change.version = standard.version
            let format = try? change.format()
            return hmacAlgorithm == nil && format?.pageAuthentication == nil ? nil : format
        }
    }
}

/// A hash as an option has it.
enum HashOption: String, CaseIterable, ExpressibleByArgument {
    case sha1, sha256, sha512

    /// Also as `rekey inspect` and SQLCipher's pragmas print them: `PBKDF2-HMAC-SHA512`, `PBKDF2_HMAC_SHA512`, `HMAC_SHA1`.
    init?(argument: String) {
        var name = argument.lowercased().replacing("_", with: "-")[...]
        for prefix in ["pbkdf2-", "hmac-"] where name.hasPrefix(prefix) { name = name.dropFirst(prefix.count) }
        self.init(rawValue: String(name.replacing("sha-", with: "sha")))
    }

    var hash: HashAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}

/// The hash of MACs, or none.
enum HMACOption: String, CaseIterable, ExpressibleByArgument {
    case sha1, sha256, sha512, none

    init?(argument: String) {
        self.init(rawValue: HashOption(argument: argument)?.rawValue ?? argument.lowercased())
    }

    var hash: HashAlgorithm? { HashOption(rawValue: rawValue)?.hash }
}

/// The values of `cipher_hmac_pgno`.
enum PageNumberOption: String, CaseIterable, ExpressibleByArgument {
    case le, be, native

    /// Also as `rekey inspect` prints them.
    init?(argument: String) {
        switch argument.lowercased() {
        case "little-endian": self = .le
        case "big-endian": self = .be
        case let name: self.init(rawValue: name)
        }
    }

    var order: PageNumberOrder { PageNumberOrder(rawValue: rawValue) ?? .native }
}

/// Two hexadecimal digits, also behind `0x`, as `rekey` prints them.
struct MaskOption: ExpressibleByArgument {
    let byte: UInt8

    init?(argument: String) {
        let digits = HexadecimalText.digits(argument)
        guard digits.utf8.count == 2, !digits.hasPrefix("+"), let byte = UInt8(digits, radix: 16) else { return nil }
        self.byte = byte
    }
}
