import Foundation
import TestSupport
import Testing

/// What users type first: `Snippets/Accepted.swift` compiles without a warning; in `Snippets/Refused.swift` each line that is marked, and no
/// other, is an error.
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

    @Test(arguments: ["5", "6"]) func refusedSnippetsDoNotCompile(mode: String) throws {
        let lines = try String(contentsOfFile: Self.snippets + "Refused.swift", encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let expected = lines.indices.filter { lines[$0].hasSuffix("  // refused") }.map { $0 + 1 }
        let found = try Self.messages("Refused.swift", mode)
        #expect(expected.count >= 40)
        // In Swift 5 mode what cannot be sent is a warning.
        let all = mode == "6" ? found.errors : found.errors + found.warnings
        #expect(Set(all.map(\.line)) == Set(expected), "\(all)")
    }
}
