internal import CipherKeys
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
        if let file { try BackupError.naming(file.path, FileCalls.truncate(file.descriptor, file.path)) }
        let process: ChildProcess
        do {
            let output = file.map { ChildProcess.Stream.descriptor($0.descriptor) } ?? .piped
            process = try ChildProcess(["rclone"] + arguments, input: "/dev/null", output: output, errors: .piped)
        } catch .noSuchFile {
            throw BackupError(.transport, message: "rclone is not installed: install the package rclone")
        } catch {
            throw BackupError(.transport, message: "rclone cannot be started: \(error)")
        }
        // Both are read side by side: a full pipe would stop the program.
        let message = ChildOutput(process.errors, most: RcloneCommand.mostErrors)
        let text = file == nil ? ChildOutput(process.output, most: RcloneCommand.mostOutput) : nil
        let status = try wait(for: process) {
            if text?.isTooLong == true {
                let most = RcloneCommand.mostOutput
                throw BackupError(
                    .transport,
                    message: "rclone \(arguments[0]) failed: it prints more than \(most) bytes"
                )
            }
            return message.hasEnded && text?.hasEnded ?? true
        }
        if let answer = Status(rawValue: status), answer == .done || accepted.contains(answer) {
            return (answer, text?.text ?? "")
        }
        let last = message.text.split(separator: "\n").last.map(String.init) ?? "status \(status)"
        throw BackupError(.transport, message: "rclone \(arguments[0]) failed: \(last)")
    }

    /// Waits for the end of the program, and ends it where this process is asked to stop.
    ///
    /// - Parameter hasEnded: Whether all that it printed was read; what it throws ends the program, too.
    /// - Returns: its exit status.
    private func wait(for process: ChildProcess, _ hasEnded: () throws -> Bool) throws -> Int32 {
        do {
            while try !hasEnded() {
                try ChildInterruption.check()
                Platform.sleep(milliseconds: 5)
            }
        } catch {
            process.end()
            throw error
        }
        do {
            return try process.wait().status
        } catch {
            // Where this process does not keep its children, whether the program failed cannot be known.
            throw BackupError(.transport, message: "rclone \(arguments[0]): its exit status is not known: \(error)")
        }
    }
}

/// Reads what a program prints, up to a limit, while another thread waits for it.
private final class ChildOutput: Sendable {
    private struct State {
        var bytes = Data()
        var isTooLong = false
        var hasEnded = false
    }

    private let state = Lock(State())

    /// - Parameters:
    ///   - descriptor: That of a pipe, which is closed at its end.
    ///   - most: Bytes that are kept: the first ones.
    init(_ descriptor: Int32, most: Int) {
        Thread.detachNewThread { [state] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while let count = try? buffer.withUnsafeMutableBytes({ try Platform.read(descriptor, into: $0) }), count > 0
            {
                state.withLock { state in
                    state.isTooLong = state.isTooLong || state.bytes.count + count > most
                    state.bytes += buffer.prefix(min(count, most - state.bytes.count))
                }
            }
            Platform.close(descriptor)
            state.withLock { $0.hasEnded = true }
        }
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// Whether there was more than is kept.
    var isTooLong: Bool { state.withLock { $0.isTooLong } }
    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
}
