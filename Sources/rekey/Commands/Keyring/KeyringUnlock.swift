import ArgumentParser
import CipherDB

/// `rekey keyring unlock FILE`
struct KeyringUnlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Try a secret: which slot it opens, and that nobody altered the keyring.",
        discussion: """
            With --export-raw-key the database's key is printed, 64 hexadecimal digits that any SQLCipher takes as \
            a raw key: whoever has them has the database.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Print the database's key to standard output, and nothing else.")
    var exportRawKey = false

    func validate() throws {
        if exportRawKey, target.report.json { throw ValidationError("--export-raw-key prints the key and no JSON.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            if exportRawKey {
                try Output.writeLine(target.exportKey(unlocked))
                return Report.Result(Opened(slot: unlocked.slot, label: ""), lines: [])
            }
            let label = try unlocked.content().slot(unlocked.slot)?.label ?? ""
            return Report.Result(
                Opened(slot: unlocked.slot, label: label),
                lines: [("opens", KeyringList.name(unlocked.slot, label))]
            )
        }
    }

    private struct Opened: Encodable {
        let slot: Int
        let label: String
    }
}
