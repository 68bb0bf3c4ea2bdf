import ArgumentParser
import Foundation

/// The help of one command, as ArgumentParser writes it, without the options that nearly all commands share.
enum CommandHelp {
    /// Titles of the shared options, which `rekey help keys` explains.
    static let keyOptions = "Key options"
    static let newKeyOptions = "New key options"

    private static let pointer = """
          Keys are prompted for, or given by --passphrase-file, --key-file, --keyring
          and other options: see 'rekey help keys'.
        """

    /// The sections of shared options, of a command that has all of them.
    static var sharedOptions: String {
        let sections = Change.helpMessage(columns: 80).split(separator: "\n\n").filter(isShared)
        return sections.joined(separator: "\n\n")
    }

    /// Replaces the sections of shared options by a line at the end that says where they are explained.
    static func shortened(_ help: String) -> String {
        let sections = help.trimmingCharacters(in: .newlines).split(separator: "\n\n")
        let own = sections.filter { !isShared($0) }
        guard own.count < sections.count else { return help }
        return (own + [pointer[...]]).joined(separator: "\n\n")
    }

    private static func isShared(_ section: Substring) -> Bool {
        [keyOptions, newKeyOptions].contains { section.hasPrefix($0.uppercased() + ":\n") }
    }
}

extension ParsableCommand {
    /// As it is typed.
    static var name: String { configuration.commandName ?? String(describing: self).lowercased() }
}
