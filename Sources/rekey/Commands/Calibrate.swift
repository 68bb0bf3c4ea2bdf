import ArgumentParser
import CipherDB
import Foundation

/// `rekey calibrate`
struct Calibrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how much work this machine can put into a passphrase.",
        discussion: """
            Says, for each function that stretches passphrases, the parameters with which that takes about so long here: \
            the time that whoever tries passphrases needs for each. Never less than OWASP's figures, nor more than 64 MiB \
            or about a second. The iterations of a database are set by `rekey migrate --kdf-iter`.
            """
    )

    @Option(help: ArgumentHelp("How long opening may take.", valueName: "number"))
    var milliseconds = 250
    @Flag(help: "Print one JSON object for each function, a line each.")
    var json = false

    func validate() throws {
        guard (1...60_000).contains(milliseconds) else {
            throw ValidationError("--milliseconds is from 1 to 60000.")
        }
    }

    func run() throws {
        for stretch in KDFOption.allCases {
            do {
                let found = try stretch.derivation(milliseconds: milliseconds)
                if json {
                    try Output.print(Object(function: stretch.rawValue, parameters: found.description).text)
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
        let function: String
        let parameters: String

        var text: String {
            get throws {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys]
                return String(decoding: try encoder.encode(self), as: UTF8.self)
            }
        }
    }
}
