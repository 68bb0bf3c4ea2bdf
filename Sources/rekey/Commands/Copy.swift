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

/// A database file, and a new file that is made from it.
struct NewFileOptions: ParsableArguments {
    @Argument(help: "The database file.", completion: .file())
    var file: String
    @Argument(help: "The file to create.", completion: .file())
    var destination: String
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup(title: CommandHelp.newKeyOptions) var newKey: SecretOptions<NewSecret>
    @OptionGroup var report: Report

    /// Runs a command's work on the file, with its key and the new file's, which is nil for the same.
    func run(_ body: (DatabaseFile, DatabaseKey, DatabaseKey?, Progress) throws -> Report.Result) throws {
        let choice = try key.choice(ofNew: newKey)
        try report.run([file]) { file, progress in
            let secret = try FileKeys(key).key(for: file, despiteDamagedSalt: true)
            let new = try choice.readIfGiven()
            return try body(key.database(file), secret, new, progress)
        }
    }
}
