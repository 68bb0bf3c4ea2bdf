import ArgumentParser
import CipherDB

/// `rekey keyring erase FILE`
struct KeyringErase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Overwrite and remove the keyring: the database can no longer be opened.",
        discussion: """
            Backups of the keyring still open the database, and so does an exported key. On flash storage, and where \
            there are snapshots, overwritten blocks may survive.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Confirm that the database may be lost.")
    var yesDestroyTheData = false

    func validate() throws {
        guard yesDestroyTheData else { throw ValidationError("Give --yes-destroy-the-data to confirm.") }
    }

    func run() throws {
        try target.run { _ in
            // A secret that is given must be that of the keyring, which may be damaged where none is.
            if target.key.isGiven { _ = try target.unlock(upgrades: false) }
            try target.keyring.erase()
            return target.done([("erased", "yes")])
        }
    }
}
