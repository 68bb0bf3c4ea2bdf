import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring rotate FILE`
struct KeyringRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give the database a new random key; every slot stays.",
        discussion: """
            Writes the database anew, as `rekey change` does. Both keys stand in the keyring until the new file is proved and on \
            the disk, so that the keyring opens the database whenever this is stopped. The next opening, or `rekey keyring \
            resume` or `cancel`, ends what was interrupted.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Let the engine re-encrypt the file where it is: it keeps its salt, and nothing can stop it half-way.")
    var inPlace = false

    func run() throws {
        try target.run { progress in
            let unlocked = try target.unlock()
            if inPlace {
                return VerificationObject.result(
                    prefix: KeyringRotate.lines,
                    try DatabaseFile(path: target.file).rotateKeyInPlace(of: unlocked, progress: progress.show)
                )
            }
            return try ReplacementOptions.result(prefix: KeyringRotate.lines) {
                try DatabaseFile(path: target.file).rotateKey(of: unlocked, progress: progress.show)
            }
        }
    }
}

extension KeyringRotate {
    static let lines = [
        ("key", "rotated"), ("note", "backups of the keyring have not got the new key: rekey keyring backup"),
    ]
}
