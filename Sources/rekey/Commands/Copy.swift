import ArgumentParser
import CipherDB
import Rekeying

/// `rekey copy FILE DESTINATION`
struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a consistent encrypted copy of a database that may be in use.",
        discussion: """
            For backups. In WAL mode writers are not blocked. The copy has its own salt, unless the file has a \
            plaintext header, and the same key unless a new one is given. It gets its name when it is complete and \
            has been read back. An existing file is never replaced.
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
