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

/// What `rekey` and `rekey --help` print: one screen.
enum Overview {
    static var text: String {
        """
        Usage: rekey <command> [<options>] <file> ...
               rekey help <command or topic>

        \(Rekey.configuration.abstract.wrapped(to: 80, indent: 0))

        Commands:
        \(lines(Rekey.configuration.subcommands.map { ($0.name, $0.configuration.abstract) }))

        Topics:
        \(lines(HelpTopic.allCases.map { ($0.rawValue, $0.abstract) }))

        Options:
        \(lines([("-h, --help", "Print help"), ("--version", "Print the versions of rekey and SQLCipher")]))

        Examples:
          rekey verify vault.db
          rekey change vault.db --passphrase-file old.txt --new-passphrase-file new.txt
          rekey keyring init vault.db

        """
    }

    private static func lines(_ rows: [(name: String, text: String)]) -> String {
        rows.map { row in
            let text = row.text.hasSuffix(".") ? String(row.text.dropLast()) : row.text
            return "  " + row.name.padded(to: 13) + text
        }
        .joined(separator: "\n")
    }
}
