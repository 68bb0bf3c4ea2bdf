import Foundation
import TestSupport
import Testing

/// No public name of a product is a name of Swift's own modules, or of Apple's for interfaces: where a program imports both, one hides the
/// other or both are ambiguous. A type with the name of a module hides all of the module, also from Swift's macros.
@Suite(.enabled(if: Compiler.isAvailable, "the compiler is missing, or the modules of the tests are not beside them"))
struct NameTests {
    /// Those that an import of a product brings.
    private static let products = [
        "CipherDB", "CipherKeys", "CipherSystem", "FMDBCompat", "Rekeying", "CipherBackup", "CipherSalvage",
        "SQLiteFormat",
    ]
    private static let toolchain = [
        "Swift", "_Concurrency", "_StringProcessing", "RegexBuilder", "Foundation", "FoundationEssentials",
        "FoundationInternationalization", "Observation", "Synchronization", "Distributed", "Dispatch",
    ]

    private struct Graph: Decodable {
        struct Symbol: Decodable {
            let pathComponents: [String]
        }
        let symbols: [Symbol]
    }

    /// The names that a module declares for all who import it, without operators.
    private static func names(of module: String) throws -> Set<String> {
        let directory = try TemporaryDirectory()
        let target = try Program.run("/usr/bin/env", ["swiftc", "-print-target-info"]).output
        let triple = try #require(target.firstMatch(of: /"triple": "([^"]+)"/)?.1)
        let found = try Program.run(
            "/usr/bin/env",
            [
                "swift", "symbolgraph-extract", "-module-name", module, "-target", String(triple), "-output-dir",
                directory.path, "-minimum-access-level", "public", "-skip-synthesized-members",
            ] + Compiler.arguments()
        )
        guard found.status == 0 else { throw NoGraph(messages: found.errors) }
        // What is on types of other modules stands in files of its own, and so do some modules.
        let symbols = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .flatMap { file in
                let graph = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/" + file))
                return try JSONDecoder().decode(Graph.self, from: graph).symbols
            }
        return Set(
            symbols.filter { $0.pathComponents.count == 1 }
                .map { String($0.pathComponents[0].prefix { $0 != "(" }) }
                .filter { $0.first.map { $0.isLetter || $0 == "_" } ?? false }
        )
    }

    private struct NoGraph: Error {
        let messages: String
    }

    @Test func noPublicNameHidesAnother() throws {
        var foreign = ForeignNames.modules.union(ForeignNames.combine).union(ForeignNames.swiftUI)
        for module in Self.toolchain {
            let names = try Self.names(of: module)
            #expect(!names.isEmpty, "\(module)")
            foreign.formUnion(names)
        }
        #expect(foreign.isSuperset(of: ["Observable", "Mutex", "Date", "DispatchQueue", "Task", "Regex", "print"]))
        var own: Set<String> = []
        for module in Self.products {
            let names = try Self.names(of: module)
            #expect(names.intersection(foreign) == [], "\(module)")
            #expect(names.intersection(Self.products) == [], "\(module)")
            own.formUnion(names)
        }
        #expect(own.isSuperset(of: ["Column", "DatabaseFile", "FMDatabase", "SecretBytes", "ValueObservation"]))
    }

    @Test(arguments: ["5", "6"]) func observableClassCompilesBesideProducts(mode: String) throws {
        let found = try SnippetTests.messages("Observable.swift", mode)
        #expect(found.errors.isEmpty && found.warnings.isEmpty, "\(found)")
    }
}
