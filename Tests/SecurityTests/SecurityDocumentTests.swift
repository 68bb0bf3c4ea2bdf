import TestSupport
import Testing

/// SECURITY.md names a test for each promise; here both sides are held against each other.
@Suite struct SecurityDocumentTests {
    private static func named() throws -> Set<String> {
        DocumentedTests.named(in: try DocumentedTests.text("SECURITY.md"))
    }

    @Test func everyTestThatIsNamedExists() throws {
        let missing = try Self.named().subtracting(DocumentedTests.all())
        #expect(missing.isEmpty, "\(missing)")
        #expect(try Self.named().count > 20)
    }

    @Test func everySecurityTestIsNamed() throws {
        let unnamed = try DocumentedTests.tests(in: "SecurityTests").subtracting(Self.named())
        #expect(unnamed.isEmpty, "\(unnamed)")
    }
}
