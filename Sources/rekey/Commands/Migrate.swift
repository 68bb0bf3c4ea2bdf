import ArgumentParser
import CipherDB
import Rekeying

/// `rekey migrate FILE…`
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a database into another SQLCipher format, or other parameters.",
        discussion: """
            From the formats 1 to 4, whichever the key fits, to the engine's own, or to the one named. Row identifiers, text \
            encoding, auto_vacuum, user_version, application_id and full-text tables come along. The key stays, unless a new \
            one is given. Needs the file to itself, and as much free space as the file is large.
            """
    )

    @Argument(help: "The database files.")
    var files: [String]
    @OptionGroup var format: FormatOptions
    @OptionGroup var key: KeyOptions
    @OptionGroup var newKey: SecretOptions<NewSecret>
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws { try replacement.check(files) }

    func run() throws {
        let (secret, newSecret) = (Once<DatabaseKey>(), Once<DatabaseKey>())
        try report.run(files) { file, progress in
            let format = try format.choice()
            let secret = try key.read(for: file, secret)
            let choice = newKey.choice(unsafePermissions: key.unsafePermissions)
            return try ReplacementOptions.result {
                try replacement.database(file, key).migrate(
                    key: secret,
                    to: choice.isGiven ? try newSecret { try choice.read(prompt: "") } : nil,
                    format: format,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }
}
