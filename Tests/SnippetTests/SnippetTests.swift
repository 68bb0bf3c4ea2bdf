import Foundation
import TestSupport
import Testing

/// What users type first: `Snippets/Accepted.swift` compiles without a warning, and each line of `Snippets/Refused.swift` that does not is
/// followed by what the compiler says, as is each of `Snippets/Warned.swift` that gets a warning.
@Suite(.enabled(if: Compiler.isAvailable, "the compiler is missing, or the modules of the tests are not beside them"))
struct SnippetTests {
    struct Message: Hashable {
        let line: Int
        let text: String
    }

    private static let snippets = Program.packageDirectory + "/Tests/SnippetTests/Snippets/"

    /// The errors and warnings of a file in a language mode.
    static func messages(_ file: String, _ mode: String) throws -> (errors: [Message], warnings: [Message]) {
        let found = try Program.run(
            "/usr/bin/env",
            ["swiftc", "-typecheck", "-swift-version", mode, "-diagnostic-style", "llvm"] + Compiler.arguments()
                + [snippets + file]
        )
        let lines = found.errors.split(separator: "\n").map(String.init)
        #expect(!lines.contains { $0.hasPrefix("<unknown>") }, "\(found.errors)")
        func messages(_ kind: String) -> [Message] {
            lines.compactMap { line -> Message? in
                guard let range = line.range(of: ": \(kind): "), line.hasPrefix(snippets) else { return nil }
                let place = line[..<range.lowerBound].split(separator: ":")
                let text = line[range.upperBound...].components(separatedBy: " [#")[0]
                    .replacingOccurrences(of: "; this is an error in the Swift 6 language mode", with: "")
                return place.count < 3 ? nil : Message(line: Int(place[place.count - 2]) ?? 0, text: text)
            }
        }
        return (messages("error"), messages("warning"))
    }

    @Test(arguments: ["5", "6"]) func commonSnippetsCompile(mode: String) throws {
        let found = try Self.messages("Accepted.swift", mode)
        #expect(found.errors.isEmpty && found.warnings.isEmpty, "\(found)")
    }

    @Test func fmdbCodeCompilesWithNewImport() throws {
        let found = try Self.messages("FMDB.swift", "5")
        #expect(found.errors.isEmpty && found.warnings.isEmpty, "\(found)")
    }

    /// What a file says that the compiler says, each in a comment behind the line.
    private static func expected(_ file: String, _ word: String) throws -> [Message] {
        let lines = try String(contentsOfFile: snippets + file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            line.firstRange(of: "// \(word): ").map { Message(line: index, text: String(line[$0.upperBound...])) }
        }
    }

    @Test(arguments: ["5", "6"]) func integersInBracketsAreWarnedOf(mode: String) throws {
        let expected = try Self.expected("Warned.swift", "warned")
        let found = try Self.messages("Warned.swift", mode)
        #expect(expected.count >= 11 && found.errors.isEmpty)
        #expect(Set(found.warnings) == Set(expected))
    }

    @Test(arguments: ["5", "6"]) func refusedSnippetsSayWhatToWrite(mode: String) throws {
        let expected = try Self.expected("Refused.swift", "refused")
        let found = try Self.messages("Refused.swift", mode)
        #expect(expected.count >= 90)
        // In Swift 5 mode what cannot be sent is a warning.
        let all = mode == "6" ? found.errors : found.errors + found.warnings
        #expect(Set(all) == Set(expected))
    }
}
