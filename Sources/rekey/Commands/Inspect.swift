import ArgumentParser
import CipherDB
import CipherKeys
internal import CipherSystem
import Foundation
import Rekeying

/// `rekey inspect FILE…`
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what a file is: encrypted, plaintext, empty, or not a database.",
        discussion: """
            With a key also its format, page size and page count; with a keyring beside it, or one that --keyring names, what that \
            says without a secret. What is old or weak by today's figures is told with the command that mends it. Nothing is \
            asked for at the terminal, unless --keyring is given without a secret.
            """
    )

    @Argument(help: "The database files.")
    var files: [String]
    @OptionGroup var key: KeyOptions
    @OptionGroup var report: Report

    func run() throws {
        let secret = Once<DatabaseKey?>()
        try report.run(files) { file, _ in
            let secret = try secret { try key.readIfGiven(for: file) }
            let found = try key.database(file).inspect(key: secret)
            var lines = [("kind", found.kind.rawValue), ("size", "\(found.size) bytes")]
            if let format = found.format, let pages = found.pageCount {
                lines += [
                    ("format", "SQLCipher \(format.version)"), ("page size", "\(format.pageSize) bytes"),
                    ("pages", "\(pages)"),
                ]
                lines += Inspect.advice(format).map { ("advice", $0) }
            }
            let keyring = key.keyring.map { Keyring(path: $0) } ?? Keyring(besideDatabase: file)
            var (ring, ringAdvice): (KeyringJSON?, [String]?)
            if key.keyring != nil || (try? Platform.status(of: keyring.path)) != nil {
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
                    size: found.size,
                    format: found.format?.version,
                    pageSize: found.format?.pageSize,
                    pageCount: found.pageCount,
                    advice: found.format.map(Inspect.advice),
                    keyring: ring,
                    keyringAdvice: ringAdvice
                ),
                lines: lines,
                status: found.kind == .notADatabase ? .damaged : .done
            )
        }
    }

    /// What is to be said of a format by today's figures, and the command that mends it.
    private static func advice(_ format: CipherFormat) -> [String] {
        var advice: [String] = []
        if format.pageAuthentication == nil {
            advice.append("nothing tells whether pages of this format were changed: rekey migrate")
        }
        if format.keyDerivation == .sha1 {
            advice.append(
                "a passphrase is stretched by PBKDF2 with SHA-1, \(format.iterations) times; OWASP asks for 1400000: rekey migrate"
            )
        } else if (try? PassphraseDerivation(.pbkdf2SHA512(iterations: format.iterations))) == nil {
            advice.append(
                "a passphrase is stretched \(format.iterations) times; OWASP asks for 220000: rekey migrate --kdf-iter"
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
            advice.append("a change of the key was interrupted: rekey keyring resume, or cancel")
        }
        let days = Int(-content.keyCreated.timeIntervalSinceNow / 86400)
        if days > oldKey { advice.append("the database's key is \(days) days old: rekey keyring rotate") }
        for slot in content.slots where slot.derivation?.isWeak == true {
            advice.append(
                "slot \(slot.number) is stretched too little by today's figures: rekey keyring unlock mends it"
            )
        }
        if content.needsSlotNumber {
            advice.append("there are so many passphrases that each needs the number of its slot: --slot")
        }
        if !content.slots.contains(where: { $0.kind == .recoveryCode }) {
            advice.append("there is no recovery code: rekey keyring recovery")
        }
        return advice
    }

    private struct Object: Encodable {
        let kind: String
        let size: Int64
        let format: Int?
        let pageSize: Int?
        let pageCount: Int?
        let advice: [String]?
        let keyring: KeyringJSON?
        let keyringAdvice: [String]?
    }
}
