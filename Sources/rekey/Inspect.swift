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
            }
            return Report.Result(
                Object(
                    kind: found.kind.rawValue,
                    size: found.size,
                    format: found.format?.version,
                    pageSize: found.format?.pageSize,
                    pageCount: found.pageCount
                ),
                lines: lines,
                status: found.kind == .notADatabase ? .damaged : .done
            )
        }
    }

    private struct Object: Encodable {
        let kind: String
        let size: Int64
        let format: Int?
        let pageSize: Int?
        let pageCount: Int?
    }
}
