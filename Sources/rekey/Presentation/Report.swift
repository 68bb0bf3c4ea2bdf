import ArgumentParser
import CipherDB
import CipherKeys
internal import CipherSystem
import Foundation

/// The options of every subcommand, and how it reports its results.
struct Report: ParsableArguments {
    @Flag(help: "Print one JSON object for each file, one line each.")
    var json = false
    @Flag(help: "Show no progress.")
    var quiet = false
    @Option(
        help: ArgumentHelp(
            "Wait at most so long for locks of others, for each file in all. Default: 5.",
            valueName: "seconds"
        )
    )
    var wait: Double?

    func validate() throws {
        guard wait.map((0...86_400).contains) ?? true else {
            throw ValidationError("--wait: give a number from 0 to 86400.")
        }
    }

    /// The result for one file: the exit status, and what is printed.
    struct Result {
        let status: ExitStatus
        let object: any Encodable
        let text: Text

        /// The output without `--json`.
        enum Text {
            /// Names and values, one line each.
            case fields([(String, String)])
            /// One line, which names the file.
            case line(String)
        }

        init(_ object: any Encodable, lines: [(String, String)], status: ExitStatus = .done) {
            self.status = status
            self.object = object
            text = .fields(lines)
        }

        init(_ object: any Encodable, line: String, status: ExitStatus) {
            self.status = status
            self.object = object
            text = .line(line)
        }
    }

    /// Runs a subcommand's work on each of `files`, and goes on after one that failed; an error becomes a message and the
    /// exit status that stands for it. The process answers the status of the first that failed.
    func run(_ files: [String], _ body: (_ file: String, Progress) throws -> Result) throws {
        if let first = try failures(files, body).first { throw ExitCode(first.code) }
    }

    /// As ``run(_:_:)``, for a command that chooses the exit status: returns those of the files that failed, in their order.
    ///
    /// - Parameter isSilent: Whether no result is printed.
    func failures(
        _ files: [String],
        isSilent: Bool = false,
        _ body: (_ file: String, Progress) throws -> Result
    ) throws -> [ExitStatus] {
        var failed: [ExitStatus] = []
        for file in files {
            // After Ctrl-C the other files are told to be as they were, too.
            let status = try one(file, isOneOf: files.count, isSilent: isSilent) { progress in
                if failed.contains(.interrupted) { throw Interrupted() }
                return try body(file, progress)
            }
            if status != .done { failed.append(status) }
        }
        if files.count > 1, !json, !quiet, !isSilent {
            try Output.print("\(files.count) files, \(failed.count) failed")
        }
        return failed
    }

    /// An error's message, with what to do, beginning with the name of the file.
    static func message(_ error: any Error, _ file: String) -> String {
        var text = CommandMessage(error).text
        // SQLite knows the full path.
        if let resolved = try? Platform.resolved(file), text.hasPrefix("\(resolved): ") {
            text = String(text.dropFirst(resolved.count + 2))
        }
        return (text.hasPrefix(file) ? text : "\(file): \(text)")
            + (Answer(error, file).advice().map { "; \($0)" } ?? "")
    }

    private func one(
        _ file: String,
        isOneOf count: Int,
        isSilent: Bool,
        _ body: (Progress) throws -> Result
    ) throws -> ExitStatus {
        var isDone = false
        do {
            let result = try LockWait.limiting(to: lockWait(file)) {
                try SearchProgress.$isQuiet.withValue(quiet || json) { try body(Progress(isQuiet: quiet || json)) }
            }
            isDone = true
            if isSilent { return result.status }
            if json {
                try Output.printJSON(Named(file: file, object: result.object))
            } else {
                try Report.print(result.text, heading: count > 1 ? "\(file):" : nil)
            }
            return result.status
        } catch {
            let status = ExitStatus(error)
            let message = Report.message(error, file) + (isDone ? "; the operation itself was completed" : "")
            Output.tellLine("rekey: \(message)", clearing: true)
            if json {
                let failure = Failure(
                    error: Answer.name(of: error),
                    exitStatus: status.code,
                    message: message,
                    fileType: (error as? KeyError)?.fileType
                )
                try? Output.printJSON(Named(file: file, object: failure))
            }
            return status
        }
    }

    private static func print(_ text: Result.Text, heading: String?) throws {
        switch text {
        case .line(let line): try Output.printLine(line)
        case .fields(let fields) where fields.isEmpty: break
        case .fields(let fields):
            let width = fields.map(\.0.count).max() ?? 0
            let lines = fields.map { "\(($0 + ":").padded(to: width + 1)) \($1)" }
            try Output.printLines([heading].compactMap { $0 } + lines)
        }
    }

    /// The version of the objects: Documentation/rekey.schema.json. It is raised when a name is removed or means something else; new
    /// names may come at any time.
    static let jsonVersion = 1

    /// The time to wait for locks of others, and the line that says so.
    private func lockWait(_ file: String) -> LockWait {
        let seconds = wait ?? 5
        let line = "rekey: \(file): waiting for a lock of another process, up to \(seconds.formatted()) s"
        let isQuiet = quiet
        return LockWait(limit: .seconds(seconds)) { if !isQuiet { Output.tellLine(line, clearing: true) } }
    }

    private struct Failure: Encodable {
        let error: String
        let exitStatus: Int32
        let message: String
        let fileType: String?
    }

    /// An object with the file that it is about, and the version of the names, among its keys.
    private struct Named: Encodable {
        let file: String
        let object: any Encodable

        private enum Key: CodingKey {
            case file, jsonVersion
        }

        func encode(to encoder: any Encoder) throws {
            try object.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(file, forKey: .file)
            try container.encode(Report.jsonVersion, forKey: .jsonVersion)
        }
    }
}
