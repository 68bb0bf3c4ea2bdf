import ArgumentParser
import CipherDB

/// `rekey keyring unlock FILE`
struct KeyringUnlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Check which slot a secret unlocks, and authenticate the keyring.",
        discussion: """
            --export-raw-key prints the database key as 64 hexadecimal digits, which every SQLCipher accepts as a \
            raw key. Everyone who has them can open the database.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Flag(help: "Print the database key to standard output, and nothing else.")
    var exportRawKey = false

    func validate() throws {
        if exportRawKey, target.report.json { throw ValidationError("--export-raw-key and --json exclude each other.") }
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
