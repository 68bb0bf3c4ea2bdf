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

/// `rekey keyring resume FILE`
struct KeyringResume: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Complete an interrupted rotation."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { progress in
            guard let unlocked = try target.unlockPending() else { return target.noRotationPending }
            let done = try DatabaseFile(path: target.file).resumeRotation(of: unlocked, progress: progress.show)
            guard let done else { return target.done([("key", "rotated; the new key was already in use")]) }
            return try ReplacementOptions.result(prefix: KeyringRotate.lines) { done }
        }
    }
}

/// `rekey keyring cancel FILE`
struct KeyringCancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Undo an interrupted rotation."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            guard let unlocked = try target.unlockPending() else { return target.noRotationPending }
            try DatabaseFile(path: target.file).cancelRotation(of: unlocked)
            return target.done([("key", "the old one")])
        }
    }
}

/// `rekey keyring adopt FILE`
struct KeyringAdopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Match the keyring to a restored or altered database.",
        discussion: """
            If the database is a copy from before a rotation, its key becomes the current key, and the present one \
            becomes a retired key. If another program altered the table cipherdb_keyring, by which old copies of the \
            keyring are detected, the table is rewritten.
            """
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            do {
                let adoption = try DatabaseFile(path: target.file).adopt(target.unlock())
                return target.done(
                    (adoption.adoptsKey ? [("key", "now that of the database")] : [])
                        + (adoption.repairsRecord ? [("record", "rewritten")] : [])
                )
            } catch let error as RekeyError {
                guard error.code == .notNeeded, let reason = error.reason else { throw error }
                return target.nothingToDo(reason)
            }
        }
    }
}

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
