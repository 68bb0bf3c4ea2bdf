import Foundation
import TestSupport
import Testing

/// SECURITY.md names a test for each promise; here both sides are held against each other.
@Suite struct SecurityDocumentTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Program.packageFolder + "/" + path, encoding: .utf8)
    }

    /// The names of the test functions in a folder under Tests.
    private static func tests(in folder: String) throws -> Set<String> {
        let directory = Program.packageFolder + "/Tests/" + folder
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: directory) where file.hasSuffix(".swift") {
            let source = try text("Tests/\(folder)/\(file)")
            for part in source.components(separatedBy: "@Test").dropFirst() {
                guard let start = part.range(of: "func ") else { continue }
                names.insert(String(part[start.upperBound...].prefix { $0.isLetter || $0.isNumber }))
            }
        }
        return names.subtracting([""])
    }

    private static let folders = [
        "CipherKeysTests", "CipherPagesTests", "CipherDBTests", "RekeyingTests", "RekeyCommandTests", "SecurityTests",
    ]

    /// What stands in SECURITY.md between backquotes and ends in `()`.
    private static func named() throws -> Set<String> {
        let parts = try text("SECURITY.md").components(separatedBy: "`")
        return Set(parts.filter { $0.hasSuffix("()") }.map { String($0.dropLast(2)) })
    }

    @Test func everyTestThatIsNamedExists() throws {
        let existing = try Self.folders.reduce(into: Set<String>()) { $0.formUnion(try Self.tests(in: $1)) }
        let missing = try Self.named().subtracting(existing)
        #expect(missing.isEmpty, "\(missing)")
        #expect(try Self.named().count > 20)
    }

    @Test func everySecurityTestIsNamed() throws {
        let unnamed = try Self.tests(in: "SecurityTests").subtracting(Self.named())
        #expect(unnamed.isEmpty, "\(unnamed)")
    }
}
