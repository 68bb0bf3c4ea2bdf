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
    @OptionGroup var newKey: NewKeyOptions
    @Flag(help: "Let the engine re-encrypt the file where it is: it keeps its salt, and nothing can stop it half-way.")
    var inPlace = false
    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var report: Report

    func validate() throws {
        if inPlace, replacement.keepOld != nil { throw ValidationError("A change in place keeps no old file.") }
        if inPlace, replacement.dryRun { throw ValidationError("A change in place has no dry run.") }
        try replacement.check(files)
    }

    func run() throws {
        let (secret, newSecret) = (Once<DatabaseKey>(), Once<DatabaseKey>())
        try report.run(files) { file, progress in
            let oldSecret = try key.choice.readKey(of: file, secret)
            let newSecret = try newSecret {
                try newKey.choice(unsafePermissions: key.unsafePermissions)
                    .read(prompt: "New passphrase", confirmed: true)
            }
            let database = replacement.database(file, key)
            if inPlace {
                let found = try database.changeKeyInPlace(from: oldSecret, to: newSecret, progress: progress.show)
                return Report.Result(
                    VerificationObject(found),
                    lines: [("key", "changed")] + VerificationObject.lines(found),
                    status: found.isSound ? .done : .damaged
                )
            }
            return try replacement.result(prefix: [("key", "changed")]) {
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
