import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring forget FILE`
struct KeyringForget: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Delete the retired keys, which open older copies of the database.",
        discussion: """
            Refused if the database itself is under a retired key. Backups of the keyring still contain these keys.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Confirm that older backups of the database may be lost.")
    var yesForgetBackups = false

    func validate() throws {
        guard yesForgetBackups else { throw ValidationError("Give --yes-forget-backups to confirm.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let content = try unlocked.content()
            guard content.olderKeyCount > 0 else { return target.nothingToDo("there are no retired keys") }
            guard !content.isRotationPending else {
                throw KeyringError(.rotationPending, path: target.keyring.path)
            }
            guard try DatabaseFile(path: target.file).position(in: unlocked) == .current else {
                throw KeyringError(.otherDatabase, path: target.keyring.path)
            }
            try unlocked.forgetOlderKeys()
            return target.done([("retired keys", "deleted")])
        }
    }
}
