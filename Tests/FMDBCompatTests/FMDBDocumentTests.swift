import Foundation
import TestSupport
import Testing

/// Documentation/FMDB.md has a row for each of FMDB's faults and tests; each row names a test of ours.
@Suite struct FMDBDocumentTests {
    /// The rows of the table under a heading, a list of columns each.
    private static func rows(under heading: String) throws -> [[String]] {
        let document = try DocumentedTests.text("Documentation/FMDB.md")
        let section = document.components(separatedBy: "\n## ").first { $0.hasPrefix(heading) } ?? ""
        return section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test func everyFMDBFaultHasTest() throws {
        let rows = try Self.rows(under: "What was wrong")
        #expect(rows.map(\.first) == (1...48).map { "W\($0)" })
        let existing = try DocumentedTests.all()
        for row in rows {
            let tests = DocumentedTests.named(in: row.last ?? "")
            #expect(!tests.isEmpty && tests.isSubset(of: existing), "\(row)")
        }
    }

    @Test func everyFMDBTestHasCounterpart() throws {
        let rows = try Self.rows(under: "FMDB's own tests")
        #expect(Set(rows.map(\.first)).count == 134)
        let existing = try DocumentedTests.all()
        for row in rows {
            let tests = DocumentedTests.named(in: row.last ?? "")
            #expect(!tests.isEmpty && tests.isSubset(of: existing), "\(row)")
        }
    }
}
