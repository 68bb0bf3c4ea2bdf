import CipherDB
import Foundation
import Rekeying

/// What the command says on standard output. What does not get there is a failure: a script would take it for success.
enum Output {
    static func print(_ text: String) throws {
        try write(visible(text) + "\n")
    }

    /// Text that no user of the machine has a part in.
    static func write(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            throw FileFailure(path: "standard output", code: EIO)
        }
    }

    /// Text on standard error. Where that cannot be written nobody is there to be told, and the work goes on.
    static func tell(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// A secret that the user asked for, and a line ending; without a copy of it.
    static func writeLine(_ secret: SecretBytes) throws {
        try secret.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Foundation.write(1, bytes.baseAddress! + done, bytes.count - done)
                guard count > 0 || errno == EINTR else { throw FileFailure(path: "standard output", code: errno) }
                done += max(0, count)
            }
        }
        try write("\n")
    }

    /// Control characters, which file names may have, as what they are: a terminal would obey them.
    static func visible(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control, scalar != "\n" {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
