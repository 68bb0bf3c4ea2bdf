import Foundation

/// Runs programs and collects what they say.
package enum Program {
    package struct Outcome: Sendable {
        /// The exit status, or the negative number of the signal that ended it.
        package let status: Int32
        package let output: String
        package let errors: String
    }

    /// Runs `path`, with `input` on standard input and `environment` over this process's own. Types so many bytes of what it
    /// prints back to it, and kills it after so many seconds, where a number is given.
    package static func run(
        _ path: String,
        _ arguments: [String] = [],
        input: String = "",
        environment: [String: String] = [:],
        typingBack count: Int? = nil,
        killedAfter seconds: Double? = nil
    ) throws -> Outcome {
        let directory = try TemporaryDirectory()
        // Files rather than pipes: neither side can fill up and wait for the other.
        let outputFile = try directory.write([], to: "output")
        let errorFile = try directory.write([], to: "errors")
        let program = try StartedProgram(
            path,
            arguments,
            environment: environment,
            input: count == nil ? .file(directory.write(input.utf8, to: "input")) : .typed,
            output: .file(outputFile),
            errors: .file(errorFile)
        )
        let end = seconds.map { ContinuousClock.now + .seconds($0) }
        if let count {
            while program.isRunning, end.map({ .now < $0 }) ?? true {
                Thread.sleep(forTimeInterval: 0.001)
                let printed = try Data(contentsOf: URL(fileURLWithPath: outputFile))
                guard printed.count >= count else { continue }
                try program.type(printed.prefix(count))
                break
            }
            try program.endInput()
        }
        if let end {
            Thread.sleep(forTimeInterval: max(0, (end - .now) / .seconds(1)))
            program.kill(SIGKILL)
        }
        return Outcome(status: try program.wait(), output: try text(outputFile), errors: try text(errorFile))
    }

    /// Whether what stands beside the package in C can be built.
    package static let hasClang = (try? run("/usr/bin/env", ["clang", "--version"]).status) == 0

    private static func text(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
    }

    /// A program built by this package, beside the tests.
    package static func built(_ name: String) -> String {
        Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The package's own directory.
    package static let packageDirectory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
