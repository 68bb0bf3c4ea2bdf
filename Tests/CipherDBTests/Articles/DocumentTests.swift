import Foundation
import TestSupport
import Testing

/// The documents: their Swift code is the code of this directory, and so compiles; their links lead somewhere.
@Suite struct DocumentTests {
    private static let documents = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]

    private static func files(_ directory: String, _ suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Program.packageDirectory + "/" + directory)
            .filter { $0.hasSuffix(suffix) }.map { "\(directory)/\($0)" }
    }

    private static func allDocuments() throws -> [String] {
        try documents + files("Documentation", ".md") + files("Sources/CipherDB/CipherDB.docc", ".md")
    }

    private static func lines(_ path: String) throws -> [Substring] {
        try String(contentsOfFile: Program.packageDirectory + "/" + path, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines of the blocks of code in a text, without their indentation.
    private static func blocks(in lines: [Substring], from begin: String, to end: String) -> [String] {
        var found: [String] = []
        var block: [Substring]?
        for line in lines {
            let trimmed = line.drop { $0 == " " }
            if trimmed == begin {
                block = []
            } else if trimmed == end, let lines = block {
                let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                found.append(lines.map { $0.dropFirst(indent) }.joined(separator: "\n"))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return found
    }

    @Test func swiftCodeCompiles() throws {
        let here = try Set(
            Self.files("Tests/CipherDBTests/Articles", ".swift")
                .flatMap { Self.blocks(in: try Self.lines($0), from: "// begin", to: "// end") }
        )
        // FMDB.md has tests of its own, which run its code.
        var shown = try Self.allDocuments().filter { $0 != "Documentation/FMDB.md" }
            .flatMap { Self.blocks(in: try Self.lines($0), from: "```swift", to: "```") }
            .filter { !$0.contains(".package(") }
            .map { $0.replacing(/import CipherDB\n(import Foundation\n)?\n/, with: "") }
        let inDocuments = shown.count
        for path in try Self.files("Sources", ".swift") + Self.files("Keys", ".swift") {
            let comments = try Self.lines(path).map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }
            let text = comments.map { $0.dropFirst($0.hasPrefix("/// ") ? 4 : 3) }
            shown += Self.blocks(in: text, from: "```swift", to: "```")
        }
        #expect(inDocuments >= 25 && shown.count - inDocuments >= 10)
        for block in shown {
            let stands = here.contains(block)
            #expect(stands, "\(block)")
        }
    }

    @Test func linksLeadToFiles() throws {
        var count = 0
        for document in try Self.allDocuments() {
            let text = try Self.lines(document).joined(separator: "\n")
            let directory = (document as NSString).deletingLastPathComponent
            for link in text.matches(of: /\]\(([^)\s]+)\)/).map({ String($0.output.1) }) where !link.contains("://") {
                count += 1
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let target = parts[0].isEmpty ? document : (directory as NSString).appendingPathComponent(parts[0])
                let path = Program.packageDirectory + "/" + target
                #expect(FileManager.default.fileExists(atPath: path), "\(document): \(link)")
                guard parts.count == 2, target.hasSuffix(".md") else { continue }
                let anchors = try Self.lines((target as NSString).standardizingPath).filter { $0.hasPrefix("#") }.map(
                    Self.anchor
                )
                #expect(anchors.contains(parts[1]), "\(document): \(link)")
            }
        }
        #expect(count > 40)
    }

    @Test func eachTypeHasItsTopic() throws {
        let sources = ["Sources/CipherDB", "Keys", "Sources/Rekeying", "Sources/CipherBackup", "Sources/CipherSalvage"]
        let types = try sources.flatMap { try Self.files($0, ".swift") }.flatMap { try Self.lines($0) }
            .compactMap { $0.firstMatch(of: /^public (?:final )?(?:struct|class|enum|protocol|actor) (\w+)/)?.output.1 }
        let topics = try ["CipherDB", "Rekeying"].flatMap { try Self.lines("Sources/CipherDB/CipherDB.docc/\($0).md") }
            .compactMap { $0.firstMatch(of: /^- ``(\w+)``$/)?.output.1 }
        #expect(types.count > 100 && Set(types).subtracting(topics).isEmpty)
    }

    /// The anchor of a heading, as code hosts make it.
    private static func anchor(_ heading: Substring) -> String {
        heading.drop { $0 == "#" || $0 == " " }.lowercased()
            .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
    }

    @Test func readmeIsOnePage() throws {
        let lines = try Self.lines("README.md")
        #expect(lines.count <= 150)
        #expect(lines.joined(separator: " ").split(separator: " ").count <= 1_300)
    }
}
