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

    /// Each import is an arrow or follows from some, and each arrow is an import.
    @Test func pictureOfModulesIsTrue() throws {
        let picture = try DocumentedTests.text("Documentation/DESIGN.md").matches(of: /(?m)^    (\w+)(?: --> (\w+))?$/)
        var arrows: [String: Set<String>] = [:]
        for line in picture { arrows[String(line.1), default: []].formUnion(line.2.map { [String($0)] } ?? []) }
        func reachable(_ module: String) -> Set<String> {
            (arrows[module] ?? []).reduce(into: []) { $0.formUnion(reachable($1).union([$1])) }
        }
        var imports: [String: Set<String>] = [:]
        for path in try Self.sources() {
            let parts = path.split(separator: "/")
            let module = parts[0] == "Keys" ? "CipherKeys" : String(parts[1])
            let found = try DocumentedTests.text(path).matches(of: /(?m)^\s*(?:@\w+ )?(?:\w+ )?import (\w+)/).map {
                String($0.1)
            }
            imports[module, default: []].formUnion(found.filter { arrows[$0] != nil })
        }
        #expect(imports.count > 8 && Set(imports.keys).isSubset(of: arrows.keys))
        for (module, found) in imports {
            #expect(
                found.subtracting(reachable(module)) == [] && (arrows[module] ?? []).subtracting(found) == [],
                "\(module)"
            )
        }
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
