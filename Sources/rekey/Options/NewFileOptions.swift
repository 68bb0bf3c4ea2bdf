import ArgumentParser
import CipherDB
import Rekeying

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
            let secret = try FileKeys(key).key(for: file)
            let new = try choice.readIfGiven()
            return try body(key.database(file), secret, new, progress)
        }
    }
}
