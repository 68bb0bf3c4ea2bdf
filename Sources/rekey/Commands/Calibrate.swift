import ArgumentParser
import CipherDB
import Foundation

/// `rekey calibrate`
struct Calibrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure KDF parameters for this machine.",
        discussion: """
            Prints, for each KDF, the parameters with which it takes about the given time here; an attacker needs \
            that time for each guess. They are never weaker than OWASP's recommendations, and never need more than \
            64 MiB or about one second. Set the iterations of a database with `rekey migrate --kdf-iter`.
            """
    )

    @Option(help: ArgumentHelp("Time of one derivation, at most about one second.", valueName: "number"))
    var milliseconds = 250
    @Flag(help: "Print one JSON object for each KDF, one line each.")
    var json = false

    func validate() throws {
        guard (1...60_000).contains(milliseconds) else {
            throw ValidationError("--milliseconds: give a number from 1 to 60000.")
        }
    }

    func run() throws {
        for option in KDFOption.allCases {
            do {
                let found = try option.derivation(milliseconds: milliseconds)
                if json {
                    try Output.printJSON(Object(kdf: option.rawValue, parameters: found.description))
                } else {
                    try Output.print(found.description)
                }
            } catch let error as UnusablePassphraseDerivation {
                // Argon2id, before OpenSSL 3.2.
                if !json { try Output.print(error.description) }
            }
        }
    }

    private struct Object: Encodable {
        let kdf: String
        let parameters: String
        let jsonVersion = Report.jsonVersion
    }
}
