import ArgumentParser
import CipherDB
import Foundation

/// `rekey keyring recovery FILE`
struct KeyringRecovery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Add a recovery code: a random secret to be written down.",
        discussion: """
            The code is printed and must be typed back: only then it counts. It is shown this once; keep it where the database \
            and the keyring are not.
            """
    )

    @OptionGroup var target: KeyringTarget
    @Option(help: "What the slot is called.")
    var label = ""

    func validate() throws {
        if target.report.json { throw ValidationError("A recovery code is for people; there is no --json.") }
    }

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock()
            let code = try RecoveryCode.random()
            try Output.writeLine(code.text())
            // From whoever reads the code: a person, or the program that stands for one.
            let source: KeySource =
                isatty(0) == 1 ? .prompt("Type the recovery code", confirmed: false) : .descriptor(0)
            let typed = try source.read()
            let number = try unlocked.add(code, typedBack: typed, label: label)
            return target.done([("added", "slot \(number)")], slot: number)
        }
    }
}
