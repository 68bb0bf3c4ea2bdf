import ArgumentParser
import CipherDB
import Rekeying

/// `rekey encrypt FILE…`
struct Encrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Encrypt a database that is in plaintext.",
        discussion: """
            Writes an encrypted file, which takes the place of the one in plaintext when it is complete and was checked. The \
            old file is overwritten; on flash, and where there are snapshots or backups, that is no promise. Needs the file \
            to itself, and as much free space as the file is large.
            """
    )

    @Argument(help: "The database files.")
    var files: [String]
    @OptionGroup var key: KeyOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws {
        try replacement.check(files)
        if key.keyring != nil { throw ValidationError("To bring a file under a keyring use `rekey keyring init`.") }
    }

    func run() throws {
        let secret = Once<DatabaseKey>()
        try report.run(files) { file, progress in
            let database = replacement.database(file, key)
            let format = try format.choice()
            // Nobody is asked for a secret that would not help.
            switch try database.inspect().kind {
            case .plaintext: break
            case .encrypted: throw RekeyError(path: file, problem: .notStarted("the file is encrypted already"))
            case .empty, .notADatabase: throw KeyError(path: file, problem: .notADatabase)
            }
            let secret = try secret { try key.choice.read(prompt: "New passphrase", confirmed: true) }
            return try ReplacementOptions.result {
                try database.encrypt(
                    with: secret,
                    format: format,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }
}
