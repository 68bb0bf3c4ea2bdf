import ArgumentParser
import CipherDB
import Rekeying

/// `rekey keyring forget FILE`
struct KeyringForget: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract:
            "Give up the older keys for good: copies of the database from before a change cannot be opened any more.",
        discussion: "Refused where the database itself is under one of them. Backups of the keyring still hold theirs."
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Say that backups of the database from before may be lost with them.")
    var yesForgetBackups = false

    func validate() throws {
        guard yesForgetBackups else { throw ValidationError("Give --yes-forget-backups, where that is meant.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let content = try unlocked.content()
            guard content.olderKeyCount > 0 else { return target.nothingToDo("there are no older keys") }
            guard !content.isRotationPending else {
                throw KeyringError(path: target.keyring.path, problem: .rotationPending)
            }
            guard try DatabaseFile(path: target.file).position(in: unlocked) == .current else {
                throw KeyringError(path: target.keyring.path, problem: .otherDatabase)
            }
            try unlocked.forgetOlderKeys()
            return target.done([("older keys", "forgotten")])
        }
    }
}
