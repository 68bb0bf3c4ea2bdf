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

/// `rekey keyring resume FILE`
struct KeyringResume: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End a change of key that was interrupted."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { progress in
            let unlocked = try target.unlock()
            guard try unlocked.content().isRotationPending else {
                return target.nothingToDo("no change of the key is under way")
            }
            let done = try DatabaseFile(path: target.file).resumeRotation(of: unlocked, progress: progress.show)
            guard let done else { return target.done([("key", "rotated; it was in force already")]) }
            return try ReplacementOptions.result(prefix: KeyringRotate.lines) { done }
        }
    }
}

/// `rekey keyring cancel FILE`
struct KeyringCancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Take back a change of key that was interrupted."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            guard try unlocked.content().isRotationPending else {
                return target.nothingToDo("no change of the key is under way")
            }
            try DatabaseFile(path: target.file).cancelRotation(of: unlocked)
            return target.done([("key", "the old one")])
        }
    }
}

/// `rekey keyring adopt FILE`
struct KeyringAdopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make the keyring and a database fit that was restored from a backup, or altered by another program.",
        discussion: """
            Where the database is a copy from before a change of its key, that key becomes the current one, and the one that was \
            becomes a retired key. Where another program has altered the table cipherdb_keyring, by which the database knows old \
            copies of the keyring, it is written again.
            """
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            do {
                let adoption = try DatabaseFile(path: target.file).adopt(target.unlock())
                return target.done(
                    (adoption.adoptsKey ? [("key", "the one that the file is under")] : [])
                        + (adoption.repairsRecord ? [("record", "written again in the database")] : [])
                )
            } catch RekeyError.notNeeded(let reason) {
                return target.nothingToDo(reason)
            }
        }
    }
}

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
