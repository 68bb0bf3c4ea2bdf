import ArgumentParser
import CipherDB
import Rekeying

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
