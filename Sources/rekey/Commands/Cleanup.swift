import ArgumentParser
import Rekeying

/// `rekey cleanup FILE…`
struct Cleanup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove files that a killed run left beside a database.",
        discussion: """
            These are an incomplete new file, or an old file that was replaced; both are named like the database, \
            with `.rekey-` and 16 digits appended. They are overwritten and removed, as is a finalized journal. The \
            database itself is not changed, and no key is needed. Every command that writes a new file does the same \
            first. A killed copy or recovery leaves its files beside the destination: pass that name.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @OptionGroup var report: Report

    func run() throws {
        try report.run(files) { file, _ in
            let removed = try DatabaseFile(path: file).cleanUp()
            return Report.Result(
                Object(removed: removed),
                lines: removed.isEmpty ? [("removed", "nothing")] : removed.map { ("removed", $0) }
            )
        }
    }

    private struct Object: Encodable {
        let removed: [String]
    }
}
