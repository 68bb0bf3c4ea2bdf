import ArgumentParser
import CipherDB
import CipherKeys
internal import CipherSystem
import Foundation
import Rekeying

/// `rekey inspect FILE…`
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print whether a file is encrypted, plaintext or no database.",
        discussion: """
            Needs no key. With a key it also prints format, page size and page count; with a keyring beside the \
            file, or one given by --keyring, what the keyring stores unencrypted. Weak or outdated parameters are \
            listed with the command that replaces them. There is no passphrase prompt unless --keyring is given \
            without a secret.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    func run() throws {
        let keys = FileKeys(key)
        try report.run(files) { file, _ in
            let secret = try keys.keyIfNamed(for: file)
            let found = try key.database(file).inspect(key: secret)
            var lines = [("kind", found.kind.rawValue), ("size", found.size.counted("byte"))]
            if let appearance = found.appearance { lines += AppearanceObject.lines(appearance) }
            if let fileType = found.fileType { lines.append(("type", fileType)) }
            if let format = found.format, let pages = found.pageCount {
                lines +=
                    FormatObject.lines(format, isUnderRawKey: secret?.isPassphrase == false) + [("pages", "\(pages)")]
                lines += Inspect.advice(format, secret).map { ("advice", $0) }
            }
            var (ring, ringAdvice): (KeyringJSON?, [String]?)
            if let keyring = key.keyringToRead(for: file) {
                let advice: [String]
                lines.append(("keyring", keyring.path))
                do {
                    let content = try keyring.content()
                    ring = KeyringJSON(content, path: keyring.path)
                    lines += KeyringLines.of(content)
                    advice = Inspect.advice(content)
                } catch let error as KeyringError where key.keyring == nil {
                    // The file itself was looked at all the same.
                    advice = ["\(error)"]
                }
                lines += advice.map { ("advice", $0) }
                ringAdvice = advice
            }
            return Report.Result(
                Object(
                    kind: found.kind.rawValue,
                    fileType: found.fileType,
                    size: found.size,
                    format: found.format?.version,
                    pageSize: found.format?.pageSize,
                    pageCount: found.pageCount,
                    parameters: found.format.map(FormatObject.init),
                    appearance: found.appearance.map(AppearanceObject.init),
                    advice: found.format.map { Inspect.advice($0, secret) },
                    keyring: ring,
                    keyringAdvice: ringAdvice
                ),
                lines: lines,
                status: found.kind == .notADatabase ? .damaged : .done
            )
        }
    }

    /// Weak parameters of a format, and the command that replaces them.
    private static func advice(_ format: CipherFormat, _ key: DatabaseKey?) -> [String] {
        var advice: [String] = []
        if format.pageAuthentication == nil {
            advice.append("the pages have no MACs, so tampering is not detected; run `rekey migrate`")
        }
        // A file of the newest version keeps what no option names.
        let isNewest = format.version == CipherFormat.v4.version
        // A raw key is not derived.
        guard key?.isPassphrase == true else {
            let isOutdated = !isNewest && format.pageAuthentication != nil
            return isOutdated ? ["the format of SQLCipher \(format.version) is outdated; run `rekey migrate`"] : advice
        }
        if format.keyDerivation == .sha1 {
            advice.append(
                "PBKDF2-SHA-1 with \(format.iterations.counted("iteration")) is weak for a passphrase (OWASP: 1400000); run `rekey migrate"
                    + (isNewest
                        ? " --kdf-algorithm sha512 --kdf-iter \(max(CipherFormat.v4.iterations, format.iterations))`"
                        : "`")
            )
        } else if (try? PassphraseDerivation(.pbkdf2SHA512(iterations: format.iterations))) == nil {
            advice.append(
                "PBKDF2-\(format.keyDerivation.rawValue) with \(format.iterations.counted("iteration")) is weak for a passphrase "
                    + "(OWASP: 220000); run `rekey migrate --kdf-iter \(CipherFormat.v4.iterations)`"
            )
        }
        return advice
    }

    /// How long a key may be in use: NIST SP 800-57 part 1 asks for a year or two at most where data go on being encrypted.
    private static let oldKey = 365

    /// The same of a keyring, without a secret.
    private static func advice(_ content: KeyringContent) -> [String] {
        var advice: [String] = []
        if content.isRotationPending {
            advice.append("a rotation is pending; run `rekey keyring resume` or `rekey keyring cancel`")
        }
        let days = Int(-content.keyCreated.timeIntervalSinceNow / 86400)
        if days > oldKey { advice.append("the database key is \(days) days old; run `rekey keyring rotate`") }
        for slot in content.slots where slot.derivation?.isWeak == true {
            advice.append(
                "slot \(slot.number) has weak KDF parameters; `rekey keyring unlock` upgrades them"
            )
        }
        if content.needsSlotNumber {
            advice.append("with this many passphrases, unlocking needs --slot")
        }
        if !content.slots.contains(where: { $0.kind == .recoveryCode }) {
            advice.append("there is no recovery code; run `rekey keyring recovery`")
        }
        return advice
    }

    private struct Object: Encodable {
        let kind: String
        let fileType: String?
        let size: Int64
        let format: Int?
        let pageSize: Int?
        let pageCount: Int?
        let parameters: FormatObject?
        let appearance: AppearanceObject?
        let advice: [String]?
        let keyring: KeyringJSON?
        let keyringAdvice: [String]?
    }
}

/// How an unknown file looks.
struct AppearanceObject: Encodable {
    let entropy: Double
    let possiblePageSizes: [Int]
    let plaintextHeader: Bool

    init(_ appearance: Inspection.Appearance) {
        // Two digits are more than such a sample tells.
        entropy = (appearance.entropy * 100).rounded() / 100
        possiblePageSizes = appearance.possiblePageSizes
        plaintextHeader = appearance.hasPlaintextHeader
    }

    static func lines(_ appearance: Inspection.Appearance) -> [(String, String)] {
        let object = AppearanceObject(appearance)
        let sizes = appearance.possiblePageSizes.map(String.init).joined(separator: ", ")
        let entropy = String(format: "%.2f bits of entropy per byte", object.entropy)
        return [
            (
                "note",
                appearance.hasPlaintextHeader
                    ? "encrypted behind a plaintext header; the salt is not in the file"
                    : "encrypted, or noise: a key decides; \(entropy)"
            ),
            (
                "note",
                sizes.isEmpty ? "the size is no multiple of a page size" : "page sizes that divide the size: \(sizes)"
            ),
        ]
    }
}
