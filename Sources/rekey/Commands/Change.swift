import ArgumentParser
import CipherDB
import Rekeying

/// `rekey change FILE…`
struct Change: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the key of an encrypted database.",
        discussion: """
            Verifies every page under the old key and writes it under the new key to a new file, which replaces the \
            old one when it is complete and has been read back. The old file is overwritten. Needs exclusive access \
            and free space of the file's size plus 1 MiB; with --keep-old twice its size.

            If the run is killed, the file opens with either the old or the new key: keep both until it is done. The \
            next run, or `rekey cleanup`, removes its leftovers.
            """
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup(title: CommandHelp.newKeyOptions) var newKey: SecretOptions<NewSecret>
    @Option(
        help: ArgumentHelp(
            "Use the key of this keyring, which the new secret unlocks; it is created if it does not exist.",
            valueName: "path"
        ),
        completion: .file()
    )
    var newKeyring: String?
    @Option(help: "Label of the first slot of the new keyring.")
    var label: String?
    @Flag(help: "Re-encrypt the file itself by PRAGMA rekey: it keeps its salt, and the run cannot be interrupted.")
    var inPlace = false
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws {
        if inPlace, replacement.keepOld != nil {
            throw ValidationError("--in-place and --keep-old exclude each other.")
        }
        if newKeyring != nil, inPlace || replacement.dryRun || files.count > 1 {
            throw ValidationError("--new-keyring needs exactly one database file, without --in-place and --dry-run.")
        }
        if label != nil, newKeyring == nil { throw ValidationError("--label needs --new-keyring.") }
        if inPlace, replacement.dryRun { throw ValidationError("--in-place and --dry-run exclude each other.") }
        try replacement.check(files)
    }

    func run() throws {
        let keys = FileKeys(key)
        let newSecret = Once<DatabaseKey>()
        let choice = try key.choice(ofNew: newKey)
        try report.run(files) { file, progress in
            let oldSecret = try keys.key(for: file)
            if let newKeyring {
                let keyring = Keyring(path: newKeyring)
                if !choice.isGiven { try key.prove(oldSecret, of: file) }
                let newSecret = try choice.readKeyringSecret(prompt: "for \(newKeyring)", confirmed: true)
                let moved = [("key", "in the keyring"), ("keyring", newKeyring)]
                return try ReplacementOptions.result(
                    prefix: moved + noteOnOldKeyring,
                    notes: OwnershipNote.lines(newKeyring, of: file)
                ) {
                    try NewKeyring(keyring: keyring, label: label ?? "", derivation: .standard).take(
                        key.database(file),
                        from: oldSecret,
                        newSecret,
                        keepingOldAs: replacement.keepOld,
                        progress.show
                    )
                }
            }
            let newSecret = try newSecret {
                // A secret that is given is derived while the old key is tried.
                if !choice.isGiven { try key.prove(oldSecret, of: file) }
                return try choice.read(prompt: "New passphrase", confirmed: true)
            }
            if try newSecret == oldSecret {
                // A new salt would hide that nobody is locked out.
                try key.prove(oldSecret, of: file)
                throw RekeyError(.sameKey, path: file)
            }
            let database = try replacement.database(file, key)
            if inPlace {
                let found = try database.changeKeyInPlace(from: oldSecret, to: newSecret, progress: progress.show)
                return VerificationObject.result(prefix: [("key", "changed")], found)
            }
            return try ReplacementOptions.result(prefix: [("key", "changed")] + noteOnOldKeyring) {
                try database.changeKey(
                    from: oldSecret,
                    to: newSecret,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }

    /// What to do with the keyring that the database was under: it opens only copies of the database from before.
    private var noteOnOldKeyring: [(String, String)] {
        key.keyring.map { [("note", "\($0) no longer opens the database; remove it by `rekey keyring erase`")] } ?? []
    }
}
