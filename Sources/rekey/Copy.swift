import ArgumentParser
import CipherDB
import Rekeying

/// `rekey copy FILE DESTINATION`
struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a consistent encrypted copy of a database that may be in use.",
        discussion: """
            For backups. In WAL mode writers are not held up. The copy has a salt of its own, and the same key unless a new \
            one is given; it gets its name when it is complete and was read back. Nothing is replaced.
            """
    )

    @Argument(help: "The database file.")
    var file: String
    @Argument(help: "The file that is made.")
    var destination: String
    @OptionGroup var key: KeyOptions
    @OptionGroup var newKey: NewKeyOptions
    @OptionGroup var report: Report

    func run() throws {
        try report.run([file]) { file, progress in
            let secret = try key.read(for: file, Once())
            let done = try key.database(file).copy(
                key: secret,
                to: destination,
                newKey: try newKey.choice(unsafePermissions: key.unsafePermissions).readIfGiven(),
                progress: progress.show
            )
            return Report.Result(ReplacementObject(done), lines: ReplacementObject.lines(done))
        }
    }
}
