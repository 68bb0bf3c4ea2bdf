import ArgumentParser
import CipherDB
import Foundation

/// `rekey keyring recovery FILE`
struct KeyringRecovery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Add a recovery code: a random secret to write down.",
        discussion: """
            Prints the code once and asks you to type it back, at a terminal up to three times; only then is the slot \
            added. Otherwise the printed code opens nothing. Store the code apart from the database and the keyring.
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
            // From a person, or a program in place of one.
            let isTyped = isatty(0) == 1
            if isTyped { Output.tell("Write this code down. The slot is added when you have typed it back.\n") }
            try Output.writeLine(code.text())
            let source: KeySource = isTyped ? .prompt("Type the recovery code", confirmed: false) : .descriptor(0)
            let number: Int
            do {
                number = try TypedSecret.ask(isTyped: isTyped) { _ in
                    try unlocked.add(code, typedBack: source.read(), label: label)
                }
            } catch let error as MalformedKey {
                Output.tellLine("rekey: \(error)")
                throw KeyringError(.notConfirmed, path: target.keyring.path)
            }
            return target.done([("added", "slot \(number)")] + notes, slot: number)
        }
    }
}
