import ArgumentParser
import Rekeying

/// `rekey cleanup FILE…`
struct Cleanup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what a killed run left beside a database.",
        discussion: """
            That is a new file that was not complete, or the old one that a complete one had replaced. Both have the \
            database's name with `.rekey-` and 16 digits after it. They are overwritten and removed, \
            and so is a journal that was ended. The database itself is not touched, and needs no key for this; every other \
            command that writes a new file does the same first. What a killed copy or recovery left stands beside its \
            destination: give that name.
            """
    )

    @Argument(help: "The database files.")
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
