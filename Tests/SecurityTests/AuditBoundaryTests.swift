import Foundation
import TestSupport
import Testing

/// Documentation/DESIGN.md lists the files outside of `Keys/` that have the bytes of a secret.
struct AuditBoundaryTests {
    /// What gives the bytes of a secret, or makes a secret of bytes.
    private static let accesses = [
        "withPageKey", "pageAuthenticationKey(", ".literal()", ".exported()", "literal.withUnsafeBytes",
        "secret.withUnsafeBytes",
        "key.withUnsafeBytes", "SecretBytes(copying:", "SecretBytes(utf8:", "newKey.withUnsafeBytes",
    ]

    private static func readers() throws -> Set<String> {
        let sources = URL(fileURLWithPath: Program.packageDirectory + "/Sources", isDirectory: true)
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        return try Set(
            files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.filter { file in
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                return lines.contains { line in
                    !line.contains("///") && accesses.contains { line.contains($0) }
                }
            }.map(\.lastPathComponent)
        )
    }

    @Test func onlyListedFilesHaveSecretsBytes() throws {
        let document = try DocumentedTests.text("Documentation/DESIGN.md")
        let section = try #require(
            document.split(separator: "## Secrets outside of `Keys/`").last?.split(separator: "\n## ").first
        )
        let listed = Set(section.matches(of: #/`([A-Za-z+]+\.swift)`/#).map { String($0.1) })
        #expect(try Self.readers() == listed)
    }
}
