import Foundation

/// Runs programs and collects what they say.
package enum Program {
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    /// Runs `path`, with `input` on standard input and `environment` over this process's own; kills it after so many
    /// seconds, where a number is given.
    package static func run(
        _ path: String,
        _ arguments: [String] = [],
        input: String = "",
        environment: [String: String] = [:],
        killedAfter seconds: Double? = nil
    ) throws -> Outcome {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Files rather than pipes: neither side can fill up and wait for the other.
        let inputFile = try folder.write(input.utf8, to: "input")
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: inputFile))
        let outputFile = URL(fileURLWithPath: try folder.write([], to: "output"))
        let errorFile = URL(fileURLWithPath: try folder.write([], to: "errors"))
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        if let seconds {
            Thread.sleep(forTimeInterval: seconds)
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        return Outcome(
            status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: try text(outputFile),
            errors: try text(errorFile)
        )
    }

    /// Whether what stands beside the package in C can be built.
    package static let hasClang = (try? run("/usr/bin/env", ["clang", "--version"]).status) == 0

    private static func text(_ file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// A program built by this package, beside the tests.
    package static func built(_ name: String) -> String {
        Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The package's own folder.
    package static let packageFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
