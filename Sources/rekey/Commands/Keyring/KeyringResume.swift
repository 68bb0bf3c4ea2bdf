import ArgumentParser
import CipherDB
import Rekeying

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
