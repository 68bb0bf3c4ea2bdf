import ArgumentParser
import CipherDB
import Rekeying

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
            } catch let error as RekeyError {
                guard case .notNeeded(let reason) = error.problem else { throw error }
                return target.nothingToDo(reason)
            }
        }
    }
}
