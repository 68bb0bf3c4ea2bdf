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

    @OptionGroup var options: NewFileOptions

    func run() throws {
        try options.run { database, key, newKey, progress in
            let done = try database.copy(key: key, to: options.destination, newKey: newKey, progress: progress.show)
            return Report.Result(ReplacementObject(done), lines: ReplacementObject.lines(done))
        }
    }
}
