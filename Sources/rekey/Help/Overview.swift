import ArgumentParser

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
