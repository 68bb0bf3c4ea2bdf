import Foundation
import TestSupport
import Testing

/// What Documentation/DESIGN.md says of the sources.
struct DesignDocumentTests {
    /// The Swift files of the library and the command, as paths in the package.
    private static func sources() throws -> [String] {
        try ["Sources", "Keys"].flatMap { directory in
            let names = FileManager.default.enumerator(atPath: Program.packageDirectory + "/" + directory)
            return try #require(names).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
                .map { directory + "/" + $0 }
        }
    }

    @Test func everyTestInDesignExists() throws {
        let named = DocumentedTests.named(in: try DocumentedTests.text("Documentation/DESIGN.md"))
        #expect(try named.count > 20 && named.subtracting(DocumentedTests.all()).isEmpty)
    }

    @Test func everyFileInDesignExists() throws {
        let document = try DocumentedTests.text("Documentation/DESIGN.md")
        let named = Set(document.matches(of: #/`([A-Za-z+\/]+\.swift)`/#).map { String($0.1) })
        let sources = try Self.sources()
        #expect(named.count > 30)
        #expect(named.filter { name in !sources.contains { $0 == name || $0.hasSuffix("/" + name) } } == [])
    }

    @Test(arguments: [
        ("CSQLCipher", "Sources/CipherDB/Engine/"), ("CCipherOpenSSL", "Keys/OpenSSL|Sources/CipherPages/Codec/"),
        ("CCipherLanes", "Sources/CipherPages/Codec/"),
        (
            "CCipherSystem",
            "Sources/CipherSystem/|Sources/CipherDB/Engine/EngineWork|Sources/CipherDB/Engine/Turn|Keys/KernelKeyring|Keys/CommonCrypto"
        ),
    ])
    func onlyBoundaryImportsCModules(module: String, places: String) throws {
        let importers = try Self.sources().filter {
            try DocumentedTests.text($0).split(separator: "\n").contains { $0.hasSuffix("import \(module)") }
        }
        #expect(!importers.isEmpty)
        #expect(importers.filter { file in !places.split(separator: "|").contains { file.hasPrefix($0) } } == [])
    }
}
