import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring rotate FILE`
struct KeyringRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give the database a new random key; all slots stay.",
        discussion: """
            Rewrites the database like `rekey change`. Until the new file is verified and synced the keyring holds \
            both keys, so it opens the database if the run is killed. The next opening, `rekey keyring resume` or \
            `rekey keyring cancel` completes or undoes an interrupted rotation.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Re-encrypt the file itself by PRAGMA rekey: it keeps its salt, and the run cannot be interrupted.")
    var inPlace = false
    @Flag(help: "Check the secret and the lock, print what would be done, and change nothing.")
    var dryRun = false

    func validate() throws {
        if inPlace, dryRun { throw ValidationError("--in-place and --dry-run exclude each other.") }
    }

    func run() throws {
        try target.run { progress in
            let unlocked = try target.unlock(upgrades: !dryRun)
            if inPlace {
                return VerificationObject.result(
                    prefix: KeyringRotate.lines,
                    try DatabaseFile(path: target.file).rotateKeyInPlace(of: unlocked, progress: progress.show)
                )
            }
            return try ReplacementOptions.result(prefix: KeyringRotate.lines) {
                try ReplacementOptions.database(DatabaseFile(path: target.file), isDryRun: dryRun)
                    .rotateKey(of: unlocked, progress: progress.show)
            }
        }
    }
}

extension KeyringRotate {
    static let lines = [
        ("key", "rotated"),
        ("note", "older backups of the keyring lack the new key; make one by `rekey keyring backup`"),
    ]
}
