import ArgumentParser
import CipherDB
import Foundation

/// `rekey keyring recovery FILE`
struct KeyringRecovery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Add a recovery code: a random secret to write down.",
        discussion: """
            Prints the code once and asks you to type it back; only then is the slot added. After a typing error no \
            slot is added, and the printed code opens nothing. Store the code apart from the database and the keyring.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Option(help: "Label of the slot.")
    var label = ""

    func validate() throws {
        if target.report.json { throw ValidationError("--json: a recovery code is printed as text only.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let notes = try target.checkDatabase(unlocked)
            let code = try RecoveryCode.random()
            if isatty(0) == 1 {
                Output.tell(
                    "Write this code down. The slot is added when you have typed it back; after a typing error, run this again for another code.\n"
                )
            }
            try Output.writeLine(code.text())
            // From a person, or a program in place of one.
            let source: KeySource =
                isatty(0) == 1 ? .prompt("Type the recovery code", confirmed: false) : .descriptor(0)
            let typed = try source.read()
            let number: Int
            do {
                number = try unlocked.add(code, typedBack: typed, label: label)
            } catch let error as MalformedKey {
                Output.tellLine("rekey: \(error)")
                throw KeyringError(path: target.keyring.path, problem: .notConfirmed)
            }
            return target.done([("added", "slot \(number)")] + notes, slot: number)
        }
    }
}
