import Foundation

/// Runs programs and collects what they say.
package enum Program {
    package struct Outcome: Sendable {
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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Files rather than pipes: neither side can fill up and wait for the other.
        let inputFile = try directory.write(input.utf8, to: "input")
        let typed = count == nil ? nil : Pipe()
        process.standardInput = try typed ?? FileHandle(forReadingFrom: URL(fileURLWithPath: inputFile))
        // A program that is gone would make typing to it a signal.
        let kept = typed.map { dup($0.fileHandleForReading.fileDescriptor) }
        defer { if let kept { close(kept) } }
        let outputFile = URL(fileURLWithPath: try directory.write([], to: "output"))
        let errorFile = URL(fileURLWithPath: try directory.write([], to: "errors"))
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        let end = seconds.map { ContinuousClock.now + .seconds($0) }
        if let count, let typed {
            while process.isRunning, end.map({ .now < $0 }) ?? true {
                Thread.sleep(forTimeInterval: 0.001)
                let printed = try Data(contentsOf: outputFile)
                guard printed.count >= count else { continue }
                try typed.fileHandleForWriting.write(contentsOf: printed.prefix(count))
                try typed.fileHandleForWriting.close()
                break
            }
        }
        if let end {
            Thread.sleep(forTimeInterval: max(0, (end - .now) / .seconds(1)))
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

    /// The package's own directory.
    package static let packageDirectory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
