import ArgumentParser
import CipherDB
import Rekeying

/// `rekey change FILE…`
struct Change: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the key of an encrypted database.",
        discussion: """
            Checks every page under the present key and writes it under the new one into a new file, which takes the old \
            one's place when it is complete and was read back. The old file is overwritten. Needs the file to itself, and \
            as much free space as the file is large. Whenever it is stopped, the file opens with one of the two keys: keep \
            both until it is done. What a killed run leaves is removed by the next, or by `rekey cleanup`.
            """
    )

    @Argument(help: "The database files.")
    var files: [String]
    @OptionGroup var key: KeyOptions
    @OptionGroup var newKey: SecretOptions<NewSecret>
    @Option(
        help: ArgumentHelp(
            "Put the file under the key of this keyring, which the new passphrase or key file opens; made where it is not there.",
            valueName: "path"
        )
    )
    var newKeyring: String?
    @Flag(help: "Let the engine re-encrypt the file where it is: it keeps its salt, and nothing can stop it half-way.")
    var inPlace = false
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws {
        if inPlace, replacement.keepOld != nil { throw ValidationError("A change in place keeps no old file.") }
        if newKeyring != nil, inPlace || replacement.dryRun || files.count > 1 {
            throw ValidationError("--new-keyring goes with one file, and neither with --in-place nor with --dry-run.")
        }
        if inPlace, replacement.dryRun { throw ValidationError("A change in place has no dry run.") }
        try replacement.check(files)
    }

    func run() throws {
        let (secret, newSecret) = (Once<DatabaseKey>(), Once<DatabaseKey>())
        try report.run(files) { file, progress in
            let oldSecret = try key.read(for: file, secret)
            if let newKeyring {
                let keyring = Keyring(path: newKeyring)
                let newSecret = try newKey.choice(unsafePermissions: key.unsafePermissions)
                    .readKeyringSecret(prompt: "for \(newKeyring)", confirmed: true)
                return try ReplacementOptions.result(prefix: [("key", "in the keyring"), ("keyring", newKeyring)]) {
                    try NewKeyring(keyring: keyring, label: "", derivation: .standard).take(
                        key.database(file),
                        from: oldSecret,
                        newSecret,
                        keepingOldAs: replacement.keepOld,
                        progress.show
                    )
                }
            }
            let newSecret = try newSecret {
                try newKey.choice(unsafePermissions: key.unsafePermissions)
                    .read(prompt: "New passphrase", confirmed: true)
            }
            let database = replacement.database(file, key)
            if inPlace {
                let found = try database.changeKeyInPlace(from: oldSecret, to: newSecret, progress: progress.show)
                return VerificationObject.result(prefix: [("key", "changed")], found)
            }
            // `rekey keyring` would go on with a keyring that opens nothing any more.
            let left =
                key.keyring.map { [("note", "\($0) does not open the file any more: rekey keyring erase")] } ?? []
            return try ReplacementOptions.result(prefix: [("key", "changed")] + left) {
                try database.changeKey(
                    from: oldSecret,
                    to: newSecret,
                    keepingOldAs: replacement.keepOld,
                    progress: progress.show
                )
            }
        }
    }
}
