import ArgumentParser
import CipherDB
import Foundation

/// The options that every subcommand has, and the ways in which it speaks.
struct Report: ParsableArguments {
    @Flag(help: "Print one JSON object.")
    var json = false
    @Flag(help: "Say nothing but the result, and errors.")
    var quiet = false

    /// Runs a subcommand's work on `file`; an error becomes a message and the exit status that stands for it.
    func run(_ file: String, _ body: (Progress) throws -> ExitStatus) throws {
        let status: ExitStatus
        do {
            status = try body(Progress(isQuiet: quiet || json))
        } catch {
            status = ExitStatus(error)
            let text = String(describing: error)
            let message = text.hasPrefix(file) ? text : "\(file): \(text)"
            FileHandle.standardError.write(Data("\(Progress.clear)rekey: \(message)\n".utf8))
            if json {
                try printJSON(
                    Failure(error: ErrorName(error, status).text, exitStatus: status.rawValue, message: message)
                )
            }
        }
        guard status == .done else { throw ExitCode(status.rawValue) }
    }

    /// Prints the object, or the lines.
    func print(_ object: some Encodable, lines: [(String, String)]) throws {
        guard !json else { return try printJSON(object) }
        let width = lines.map(\.0.count).max() ?? 0
        for (name, value) in lines { Swift.print("\((name + ":").padded(to: width + 1)) \(value)") }
    }

    private func printJSON(_ object: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Swift.print(String(decoding: try encoder.encode(object), as: UTF8.self))
    }

    private struct Failure: Encodable {
        let error: String
        let exitStatus: Int32
        let message: String
    }
}
