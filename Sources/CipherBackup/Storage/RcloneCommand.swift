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
                Platform.sleep(milliseconds: 100 << attempt)
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
        let output = Pipe()
        let errors = Pipe()
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
        let message = Lock(Data())
        let reading = DispatchQueue(label: "CipherDB.rclone")
        reading.async { message.withLock { $0 = errors.fileHandleForReading.readDataToEndOfFile() } }
        let text = file == nil ? output.fileHandleForReading.readDataToEndOfFile() : Data()
        reading.sync {}
        process.waitUntilExit()
        let failure = String(decoding: message.withLock { $0 }, as: UTF8.self)
        if process.terminationReason == .exit, let status = Status(rawValue: process.terminationStatus),
            status == .done || accepted.contains(status)
        {
            return (status, String(decoding: text, as: UTF8.self))
        }
        if process.terminationStatus == 127 {
            throw BackupError.transport("rclone is not installed: install the package rclone")
        }
        let last = failure.split(separator: "\n").last.map(String.init) ?? "status \(process.terminationStatus)"
        throw BackupError.transport("rclone \(arguments[0]) failed: \(last)")
    }
}
