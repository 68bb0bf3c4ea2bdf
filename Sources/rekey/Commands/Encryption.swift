import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// `rekey encrypt FILE…`
struct Encrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Encrypt a plaintext database.",
        discussion: """
            Writes an encrypted file, which replaces the plaintext one when it is complete and has been checked. The \
            plaintext file is overwritten; on flash storage, and where there are snapshots or backups, its blocks \
            may survive. Needs exclusive access and free space of the file's size plus 1 MiB; with --keep-old twice \
            its size.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws {
        try replacement.check(files)
        if key.fileFormat.isGiven {
            throw ValidationError(
                "Options that begin with --file- describe an encrypted file; those of the new one are named without 'file-'."
            )
        }
        if key.fileFormat.salt != nil, (format.parameters.plaintextHeader ?? 0) == 0 {
            throw ValidationError(
                "--salt needs --plaintext-header; without one the file contains its salt, which is random."
            )
        }
        if key.keyring != nil {
            throw ValidationError("--keyring: use `rekey keyring init` to encrypt a database with a keyring.")
        }
    }

    func run() throws {
        let secret = Once<DatabaseKey>()
        try report.run(files) { file, progress in
            let database = try replacement.database(file, key)
            // Nobody is asked for a secret that would not help.
            let found = try database.inspect()
            switch found.kind {
            case .plaintext: break
            case .encrypted: throw AlreadyEncrypted()
            case .empty: throw KeyError(.notADatabase, path: file, fileType: "empty")
            case .notADatabase: throw KeyError(.notADatabase, path: file, fileType: found.fileType)
            }
            let secret = try secret {
                try key.fileFormat.salted(key.choice.read(prompt: "New passphrase", confirmed: true))
            }
            return try ReplacementOptions.result(of: file) {
                try database.encrypt(
                    with: secret,
                    changing: format.change,
                    allowsWeaker: format.allowWeaker,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }
}

/// What `rekey encrypt` is given is encrypted already.
struct AlreadyEncrypted: Error, CustomStringConvertible {
    var description: String { "the file is already encrypted; to change its key, run `rekey change`" }
}

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
