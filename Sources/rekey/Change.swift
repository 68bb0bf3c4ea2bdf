import ArgumentParser
import CipherDB
import Rekeying

/// `rekey change FILE`
struct Change: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the key of an encrypted database.",
        discussion: """
            Checks every page under the present key, re-encrypts the file in place, proves that the new key opens it and \
            the old one does not, and checks every page again. Needs the file to itself, and as much free space as the \
            file is large. Whenever it is stopped, the file opens with one of the two keys: keep both until it is done.
            """
    )

    @Argument(help: "The database file.")
    var file: String
    @OptionGroup var key: KeyOptions
    @OptionGroup var newKey: NewKeyOptions
    @OptionGroup var report: Report

    func run() throws {
        try report.run(file) {
            let oldSecret = try key.choice.readKey(of: file)
            let newSecret = try newKey.choice(unsafePermissions: key.unsafePermissions)
                .read(prompt: "New passphrase", confirmed: true)
            var progress = Progress("checking")
            let found = try DatabaseFile(path: file).changeKey(from: oldSecret, to: newSecret) {
                progress.show($0, of: $1)
            }
            try report.print(
                VerificationObject(found),
                lines: [("key", "changed")] + VerificationObject.lines(found)
            )
            return found.isSound ? .done : .damaged
        }
    }
}
