import Foundation

/// Documents name tests, between backquotes and ending in `()`; these are held against the sources.
package enum DocumentedTests {
    private static let directories = [
        "CipherKeysTests", "CipherPagesTests", "CipherDBTests", "FMDBCompatTests", "RekeyingTests", "RekeyCommandTests",
        "SecurityTests", "SnippetTests",
    ]

    /// A file of the package.
    package static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Program.packageDirectory + "/" + path, encoding: .utf8)
    }

    /// The names of the test functions in a directory under Tests.
    package static func tests(in directory: String) throws -> Set<String> {
        let path = Program.packageDirectory + "/Tests/" + directory
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: path) where file.hasSuffix(".swift") {
            let source = try text("Tests/\(directory)/\(file)")
            for part in source.components(separatedBy: "@Test").dropFirst() {
                guard let start = part.range(of: "func ") else { continue }
                names.insert(String(part[start.upperBound...].prefix { $0.isLetter || $0.isNumber }))
            }
        }
        return names.subtracting([""])
    }

    /// The names of all test functions of the package.
    package static func all() throws -> Set<String> {
        try directories.reduce(into: []) { $0.formUnion(try tests(in: $1)) }
    }

    /// The tests that a text names.
    package static func named(in text: String) -> Set<String> {
        Set(text.components(separatedBy: "`").filter { $0.hasSuffix("()") }.map { String($0.dropLast(2)) })
    }
}
