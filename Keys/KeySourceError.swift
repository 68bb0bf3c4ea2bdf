internal import CipherSystem

/// A source that gave no secret.
public struct KeySourceError: Error, Equatable, Sendable {
    /// What is wrong with a source.
    public enum Problem: Equatable, Sendable {
        /// The system refused, with this `errno`.
        case system(Int32)
        /// A directory, pipe or device where a regular file is needed.
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
        case .notAFile: "\(source): not a regular file; a pipe can be given by its descriptor"
        case .othersCanRead(let mode):
            "\(source): other users have rights on it (mode \(String(mode, radix: 8))); run chmod 600, or say that it is meant"
        case .missing: "\(source): not set, or empty; an environment variable is overwritten when it is read, once"
        case .tooLarge: "\(source): more than a mebibyte"
        case .noTerminal: "\(source): no terminal to ask at; give the secret by a file, a descriptor or a variable"
        case .notConfirmed: "\(source): the two entries differ"
        case .endOfInput: "\(source): ended without an entry"
        case .leadsElsewhere: "\(source): a link to another directory; name the file itself, or say that it is meant"
        case .ofAnotherUser: "\(source): the file of another user; or say that it is meant"
        case .commandFailed(let status): "\(source): ended with status \(status)"
        case .notHere: "\(source): this system has no such thing"
        case .keychain(let status): "\(source): the keychain answered \(status)"
        }
    }
}
