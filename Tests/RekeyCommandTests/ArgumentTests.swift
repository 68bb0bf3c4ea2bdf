import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import rekey

/// Command lines of somebody who means no good, or none at all. They are read and checked, and nothing is run.
@Suite struct ArgumentTests {
    /// What can stand in a line: every word that the help knows, and values at the ends of what can be meant.
    private static func words() throws -> [String] {
        let help = try Program.run(Program.built("rekey"), ["--experimental-dump-help"]).output
        return Set(help.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map { String($0) }).sorted()
    }

    private static let values = [
        "", "-", "--", "-1", "0", "1", "4", "4096", "65536", "65537", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "1e9", "0x10", "1.5", "NaN", "٣", " 4", "4 ", "a\nb", "a\tb", "%s%n",
        "../../etc/passwd",
        "=", "--key-file=", "--json=false", "\u{202e}", "e\u{301}", "🔑", String(repeating: "a", count: 10_000),
    ]

    @Test func printedKDFIsAccepted() throws {
        for (text, kdf) in [("PBKDF2-SHA-512", KDFOption.pbkdf2SHA512), ("Argon2id", .argon2id), ("scrypt", .scrypt)] {
            #expect(KDFOption(argument: text) == kdf)
        }
        #expect(KDFOption(argument: "sha512") == nil)
    }

    @Test func randomCommandLinesParseConsistently() throws {
        var trials = RandomTrials("command lines", "CIPHERDB_LINES", rounds: 40)
        let words = try Self.words()
        #expect(words.contains("new-key-file") && words.contains("keyring"))
        let options = words.map { "--" + $0 }
        var understood = 0
        while trials.goesOn() {
            var line = [
                ["change", "verify", "migrate", "keyring", "decrypt", "copy"].randomElement(using: &trials.random)!
            ]
            for _ in 0..<Int.random(in: 0...6, using: &trials.random) {
                switch Int.random(in: 0...3, using: &trials.random) {
                case 0: line.append(words.randomElement(using: &trials.random)!)
                case 1: line.append(Self.values.randomElement(using: &trials.random)!)
                default:
                    line.append(options.randomElement(using: &trials.random)!)
                    line.append(Self.values.randomElement(using: &trials.random)!)
                }
            }
            do {
                let first = try Rekey.parseAsRoot(line)
                let second = try Rekey.parseAsRoot(line)
                #expect(type(of: first) == type(of: second), "\(line)")
                understood += 1
            } catch {
                #expect(!Rekey.fullMessage(for: error).isEmpty, "\(line)")
            }
        }
        #expect(understood > 0)
    }
}
