import ArgumentParser
import CipherDB
import Rekeying

/// `rekey migrate FILE…`
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Convert a database to another SQLCipher format or page size.",
        discussion: """
            Reads every format of SQLCipher and writes that of the engine's own version unless options name parameters. \
            A plaintext header stays, and so do a higher number of PBKDF2 iterations and a page size that are not those \
            of the file's version; a file of that version keeps all its parameters, but gets MACs, unless --format names the version: then it gets that version's own. A weaker format \
            needs --allow-weaker. Keeps rowids, text encoding, auto_vacuum, user_version, application_id and full-text \
            tables. Keeps the key unless a new one is given. Needs exclusive access and free space of the file's size plus 1 MiB; with --keep-old twice its \
            size.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @OptionGroup var format: FormatOptions
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup(title: CommandHelp.newKeyOptions) var newKey: SecretOptions<NewSecret>
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws { try replacement.check(files) }

    func run() throws {
        let keys = FileKeys(key)
        let newSecret = Once<DatabaseKey>()
        try report.run(files) { file, progress in
            let secret = try keys.key(for: file)
            let choice = newKey.choice(unsafePermissions: key.unsafePermissions)
            return try ReplacementOptions.result(of: file) {
                try replacement.database(file, key).migrate(
                    key: secret,
                    to: choice.isGiven ? try newSecret { try choice.read(prompt: "") } : nil,
                    changing: format.change,
                    allowsWeaker: format.allowWeaker,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }
}
