import ArgumentParser
import CipherDB
import Rekeying

/// `rekey inspect FILE…`
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what a file is: encrypted, plaintext, empty, or not a database.",
        discussion: "With a key also its format, page size and page count. Nothing is asked for at the terminal."
    )

    @Argument(help: "The database files.")
    var files: [String]
    @OptionGroup var key: KeyOptions
    @OptionGroup var report: Report

    func run() throws {
        let secret = Once<DatabaseKey>()
        try report.run(files) { file, _ in
            let secret = key.choice.isGiven ? try secret { try key.choice.read(prompt: "") } : nil
            let found = try key.database(file).inspect(key: secret)
            var lines = [("kind", found.kind.rawValue), ("size", "\(found.size) bytes")]
            if let format = found.format, let pages = found.pageCount {
                lines += [
                    ("format", "SQLCipher \(format.version)"), ("page size", "\(format.pageSize) bytes"),
                    ("pages", "\(pages)"),
                ]
                lines += Inspect.advice(format).map { ("advice", $0) }
            }
            return Report.Result(
                Object(
                    kind: found.kind.rawValue,
                    size: found.size,
                    format: found.format?.version,
                    pageSize: found.format?.pageSize,
                    pageCount: found.pageCount,
                    advice: found.format.map(Inspect.advice)
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

    private struct Object: Encodable {
        let kind: String
        let size: Int64
        let format: Int?
        let pageSize: Int?
        let pageCount: Int?
        let advice: [String]?
    }
}
