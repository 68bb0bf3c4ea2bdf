import CipherDB
import CipherKeys
internal import CipherSystem
import Foundation
import Rekeying

/// The standard output of the command. Output that does not get there is a failure: a script would take it for success.
enum Output {
    static func print(_ text: String) throws {
        try write(visible(text) + "\n")
    }

    /// One line, whatever the text is: a line ending in the name of a file would let it end the line and write the next one.
    static func printLine(_ text: String) throws {
        try printLines([text])
    }

    /// As many lines, whatever their text is.
    static func printLines(_ lines: [String]) throws {
        try write(lines.map { visible($0, isOneLine: true) + "\n" }.joined())
    }

    /// Text that no user of the machine has a part in.
    static func write(_ text: String) throws {
        try Data(text.utf8).withUnsafeBytes { try write($0) }
    }

    /// A JSON object in one line, in which characters that change how text is displayed are escaped; bytes that are not UTF-8 as U+FFFD.
    static func printJSON(_ object: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(object), as: UTF8.self).withoutPathBytes
        try write(text.unicodeScalars.map(escapedInJSON).joined() + "\n")
    }

    /// JSON has them in its strings only.
    private static func escapedInJSON(_ scalar: Unicode.Scalar) -> String {
        guard scalar.changesDisplay else { return String(scalar) }
        return String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        .joined()
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) throws {
        var done = 0
        while done < bytes.count {
            let count = Foundation.write(1, bytes.baseAddress! + done, bytes.count - done)
            guard count > 0 || errno == EINTR else { throw FileError(.system, path: "standard output", errno: errno) }
            done += max(0, count)
        }
    }

    /// Text on standard error. Where that cannot be written nobody reads it, and the work goes on.
    ///
    /// - Parameter clearing: Whether it takes the place of the progress bar.
    static func tell(_ text: String, clearing: Bool = false) {
        let bytes = (clearing ? Progress.clear : "") + visible(text)
        try? FileHandle.standardError.write(contentsOf: Data(bytes.utf8))
    }

    /// One line on standard error, as ``printLine(_:)``.
    static func tellLine(_ text: String, clearing: Bool = false) {
        tell(visible(text, isOneLine: true) + "\n", clearing: clearing)
    }

    /// The progress bar, on a terminal.
    static func show(bar: String) {
        try? FileHandle.standardError.write(contentsOf: Data(bar.utf8))
    }

    /// A secret that the user asked for, and a line ending; without a copy of it.
    static func writeLine(_ secret: SecretBytes) throws {
        try secret.withUnsafeBytes { try write($0) }
        try write("\n")
    }

    /// Characters that change how text is displayed, which names of files and labels may have, as their numbers: a terminal would
    /// obey them. Bytes that are not UTF-8 as U+FFFD.
    static func visible(_ text: String, isOneLine: Bool = false) -> String {
        var shown = ""
        for scalar in text.withoutPathBytes.unicodeScalars {
            if scalar.changesDisplay, isOneLine || scalar != "\n" {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// A message of the parser, which quotes arguments as they are; those of more lines in one.
    static func visible(_ arguments: [String], in message: String) -> String {
        arguments.flatMap { [$0] + $0.split(separator: "=", maxSplits: 1).dropFirst().map(String.init) }
            .filter { $0.unicodeScalars.contains("\n") }
            .reduce(message) { $0.replacingOccurrences(of: $1, with: visible($1, isOneLine: true), options: .literal) }
    }
}

/// A text file that replaces nothing, and that its owner alone can read.
enum OutputFile {
    /// Whether anything stands at `path`, be it a link to nothing.
    static func isTaken(_ path: String) -> Bool {
        (try? Platform.statusOfLink(path)) != nil
    }

    /// Makes the file; throws where anything of its name exists.
    static func write(_ text: String, to path: String) throws {
        let descriptor: Int32
        do {
            descriptor = Int32(
                try Platform.call(path) { Int(open($0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)) }
            )
        } catch .exists {
            throw FileError(.exists, path: path)
        } catch {
            throw FileError(.system, path: path, errno: error.code)
        }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
        } catch {
            try? Platform.remove(path)
            throw FileError(.system, path: path, errno: EIO)
        }
    }
}

/// Descriptors 0, 1 and 2 as the command needs them, before anything is opened.
enum StandardStreams {
    /// Sees that no file of ours gets the number of a standard stream that is closed, where messages would be written into it; and
    /// that a reader who is gone is an error of writing and not the end of the process.
    static func prepare() {
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free. For reading only: what is written there fails, as it would have.
            _ = open("/dev/null", O_RDONLY)
        }
        signal(SIGPIPE, SIG_IGN)
    }
}
