import ArgumentParser
import CipherDB

/// `rekey keyring erase FILE`
struct KeyringErase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Overwrite and remove the keyring: nobody can open the database any more.",
        discussion: """
            Backups of the keyring still open it, and so does whoever has noted its key; on flash, and where there are snapshots, \
            overwriting is no promise.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Say that the database may be lost with it.")
    var yesDestroyTheData = false

    func validate() throws {
        guard yesDestroyTheData else { throw ValidationError("Give --yes-destroy-the-data, where that is meant.") }
    }

    func run() throws {
        try target.run { _ in
            // A secret that is given must be that of the keyring, which may be damaged where none is.
            if target.key.choice.isGiven { _ = try target.unlock(upgrades: false) }
            try target.keyring.erase()
            return target.done([("erased", "yes")])
        }
    }
}
