internal import CipherSystem
internal import Foundation

/// A call of the program rclone.
struct RcloneCommand {
    /// Exit statuses of rclone that are answers (rclone.org/docs, "Exit code").
    enum Status: Int32 {
        case done = 0
        case directoryNotFound = 3
        case fileNotFound = 4
    }

    private let arguments: [String]
    private static let attempts = 5
    /// The names of more than a million objects.
    private static let mostOutput = 128 << 20
    private static let mostErrors = 1 << 20
    /// How long a program has to end that was asked to.
    private static let timeToEnd = Duration.seconds(1)

    init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Runs it, again where it fails.
    ///
    /// - Parameters:
    ///   - accepted: Statuses that are no failures.
    ///   - file: Gets the output, from its beginning.
    func run(
        accepting accepted: [Status] = [],
        into file: TemporaryFile? = nil
    ) throws -> (status: Status, output: String) {
        try RcloneCommand.repeating { try runOnce(accepting: accepted, into: file) }
    }

    /// Tries `body` several times, with pauses that grow.
    static func repeating<Result>(_ body: () throws -> Result) throws -> Result {
        for attempt in 1..<attempts {
            do {
                return try body()
            } catch BackupError.transport {
                try ChildInterruption.sleep(milliseconds: 100 << attempt)
            }
        }
        return try body()
    }

    @discardableResult
    func runOnce(accepting accepted: [Status] = [], into file: TemporaryFile? = nil) throws -> (
        status: Status, output: String
    ) {
        let process = Process()
        // It finds the program by PATH.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["rclone"] + arguments
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        if let file {
            try BackupError.naming(file.path, FileCalls.truncate(file.descriptor, file.path))
            process.standardOutput = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
        } else {
            process.standardOutput = output
        }
        process.standardError = errors
        do {
            try process.run()
        } catch {
            throw BackupError.transport("rclone cannot be started: \(error)")
        }
        // Both are read side by side: a full pipe would stop the program.
        let message = ChildOutput(errors, most: RcloneCommand.mostErrors)
        let text = file == nil ? ChildOutput(output, most: RcloneCommand.mostOutput) : nil
        try wait(for: process) {
            if text?.isTooLong == true {
                let most = RcloneCommand.mostOutput
                throw BackupError.transport("rclone \(arguments[0]) failed: it prints more than \(most) bytes")
            }
            return message.hasEnded && text?.hasEnded ?? true
        }
        if process.terminationReason == .exit, let status = Status(rawValue: process.terminationStatus),
            status == .done || accepted.contains(status)
        {
            return (status, text?.text ?? "")
        }
        if process.terminationStatus == 127 {
            throw BackupError.transport("rclone is not installed: install the package rclone")
        }
        let last = message.text.split(separator: "\n").last.map(String.init) ?? "status \(process.terminationStatus)"
        throw BackupError.transport("rclone \(arguments[0]) failed: \(last)")
    }

    /// Waits for the end of the program, and ends it where this process is asked to stop.
    ///
    /// - Parameter hasEnded: Whether all that it printed was read; what it throws ends the program, too.
    private func wait(for process: Process, _ hasEnded: () throws -> Bool) throws {
        do {
            while try !hasEnded() {
                try ChildInterruption.check()
                Platform.sleep(milliseconds: 5)
            }
        } catch {
            process.terminate()
            let end = ContinuousClock.now + RcloneCommand.timeToEnd
            while process.isRunning, .now < end { Platform.sleep(milliseconds: 5) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            throw error
        }
        process.waitUntilExit()
    }
}
