import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// `rekey decrypt FILE…`
struct Decrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a database in plaintext, in the place of the encrypted one.",
        discussion: """
            Everybody who gets at the file can read it then. So a word has to be typed at the terminal, or \
            --yes-write-plaintext given.
            """
    )

    @Argument(help: "The database files.")
    var files: [String]
    @Flag(help: "Write the plaintext without asking.")
    var yesWritePlaintext = false
    @OptionGroup var key: KeyOptions
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws { try replacement.check(files) }

    func run() throws {
        let secret = Once<DatabaseKey>()
        try report.run(files) { file, progress in
            let database = replacement.database(file, key)
            if !yesWritePlaintext, !replacement.dryRun { try Decrypt.confirm(file) }
            let secret = try key.read(for: file, secret)
            return try ReplacementOptions.result {
                try database.decryptToPlaintext(
                    key: secret,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }

    private static func confirm(_ file: String) throws {
        let refusal = ValidationError("Nothing was written: type the word, or give --yes-write-plaintext.")
        guard isatty(STDIN_FILENO) == 1 else { throw refusal }
        Output.tell("\(file) will be readable by everybody who gets at it. Type 'plaintext' to go on: ")
        guard readLine() == "plaintext" else { throw refusal }
    }
}
