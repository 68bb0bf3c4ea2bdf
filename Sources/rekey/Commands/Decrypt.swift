import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// `rekey decrypt FILE…`
struct Decrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace an encrypted database by a plaintext one.",
        discussion: """
            Everyone with access to the file can read it then. To confirm, type a word at the terminal or give \
            --yes-write-plaintext. The pages keep the reserved bytes that SQLCipher uses (up to 80 at the end of each): \
            the file opens in SQLite and is some percent larger than before its encryption.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @Flag(help: "Write the plaintext without confirmation.")
    var yesWritePlaintext = false
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws { try replacement.check(files) }

    func run() throws {
        let keys = FileKeys(key)
        try report.run(files) { file, progress in
            let database = try replacement.database(file, key)
            if !yesWritePlaintext, !replacement.dryRun { try Decrypt.confirm(file) }
            let secret = try keys.key(for: file)
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
        let refusal = ValidationError(
            "Nothing was written. Type 'plaintext' to confirm, or give --yes-write-plaintext."
        )
        guard isatty(STDIN_FILENO) == 1 else { throw refusal }
        Output.tell("\(file) will be readable by everyone with access to it.\n")
        var question = "Type 'plaintext' to continue, or 'no': "
        for _ in 1...3 {
            Output.tell(question)
            let answer = readLine()?.trimmingCharacters(in: .whitespaces)
            if answer == "plaintext" { return }
            guard let answer, !["no", "n"].contains(answer.lowercased()) else { break }
            question = "That is not enough. Type the word 'plaintext' to continue, or 'no': "
        }
        throw refusal
    }
}
