internal import CipherSystem

/// An error of a source that returned no secret.
public struct KeySourceError: Error, Equatable, Sendable {
    /// The causes.
    public enum Problem: Equatable, Sendable {
        /// The system refused, with this `errno`.
        case system(Int32)
        /// A directory or device where a file or named pipe is needed.
        case notAFile
        /// Others than the owner have rights on the file.
        case othersCanRead(mode: Int)
        /// No such environment variable, credential or keychain item, or no command at all.
        case missing
        /// More than a mebibyte.
        case tooLarge
        /// No terminal to ask at.
        case noTerminal
        /// The two entries differ, or the user gave up.
        case notConfirmed
        /// The terminal was closed, or the user ended the input.
        case endOfInput
        /// A link to a file in another directory.
        case leadsElsewhere
        /// A file of another user's, who could write another secret into it.
        case ofAnotherUser
        /// The command ended with another status than 0; with 128 and the number of a signal that ended it.
        case commandFailed(status: Int32)
        /// The command of a slot did not end within this time, and was ended.
        case timedOut(Duration)
        /// The command of a new slot printed another secret when it was run again.
        case notRepeatable
        /// This system has no such source.
        case notHere
        /// The keychain refused, with this `OSStatus`.
        case keychain(Int32)
    }

    /// The path, descriptor, variable or program, never its content.
    public let source: String
    /// What is wrong with it.
    public let problem: Problem
}

extension KeySourceError: CustomStringConvertible {
    /// A sentence with the source and what to do.
    public var description: String {
        switch problem {
        case .system(let code): "\(source): \(Errno(code: code))"
        case .notAFile: "\(source): neither a regular file nor a named pipe"
        case .othersCanRead(let mode):
            "\(source): other users can access it (mode \(String(mode, radix: 8))); run chmod 600, or allow it explicitly"
        case .missing:
            "\(source): missing or empty"
                + (source.hasPrefix("environment variable") ? "; once it is read, it is overwritten" : "")
        case .tooLarge: "\(source): more than a mebibyte"
        case .noTerminal:
            "\(source): there is no terminal for a prompt; use a file, a descriptor or an environment variable"
        case .notConfirmed: "\(source): the two entries differ"
        case .endOfInput: "\(source): ended without an entry"
        case .leadsElsewhere:
            "\(source): a link to another directory; give the path of the file itself, or allow it explicitly"
        case .ofAnotherUser: "\(source): a file of another user; change its owner, or allow it explicitly"
        case .commandFailed(let status): "\(source): ended with status \(status)"
        case .timedOut(let limit): "\(source): did not end within \(limit.components.seconds) seconds, and was ended"
        case .notRepeatable:
            "\(source): printed another secret when it was run again; the command of a slot must print the same one each time"
        case .notHere: "\(source): not available on this system"
        case .keychain(let status): "\(source): the keychain returned \(status)"
        }
    }
}
