import ArgumentParser

/// Help about what concerns several commands: `rekey help keys`.
enum HelpTopic: String, CaseIterable {
    case keys
    case exitStatus = "exit-status"
    case json
    case environment

    /// For `rekey --help`.
    var abstract: String {
        switch self {
        case .keys: "Where passphrases and keys are read from"
        case .exitStatus: "Exit statuses"
        case .json: "Output of --json"
        case .environment: "Environment variables"
        }
    }

    var text: String {
        switch self {
        case .keys: HelpTopic.keysText
        case .exitStatus: ExitStatus.table
        case .json: HelpTopic.jsonText
        case .environment: HelpTopic.environmentText
        }
    }

    /// The text that arguments ask for if it is not the help of one command.
    static func text(for arguments: [String]) -> String? {
        if [[], ["help"], ["-h"], ["--help"]].contains(arguments) { return Overview.text }
        guard arguments.count == 2, arguments[0] == "help" else { return nil }
        return HelpTopic(rawValue: arguments[1]).map { $0.text + "\n" }
    }

    private static var keysText: String {
        """
        A passphrase or key is never an argument, because every user of a machine can
        read the arguments of a process. Without one of these options rekey prompts at
        the terminal, without echo. Each secret has one source.

        \(CommandHelp.sharedOptions)

        Files with secrets must belong to you and must not be accessible to other users,
        unless --unsafe-permissions is given. `-` and /dev/stdin are standard input;
        pipes, such as <(program), are read to their end. A passphrase is one line: its
        line ending is not part of it, and a second line or a byte order mark is
        refused. One with NUL bytes, or that is no UTF-8, is not taken for text: all
        bytes count but a line ending at the end. At the terminal you have three tries.
        The program of --passphrase-command does not inherit variables that
        --passphrase-env and --new-passphrase-env name.

        A slot of a keyring can store a command that prints its secret. It is shown, and
        run only if --allow-command has the same text or you type yes at the terminal.
        It has the environment and standard error of rekey, no standard input, and a
        minute. Its text is split at spaces; '…', "…" and \\ quote. The text of
        --passphrase-command is split at spaces only, and nothing quotes.
        """
    }

    private static let environmentText = """
        These environment variables have an effect:

          NAME of --passphrase-env NAME
                      The passphrase; rekey overwrites its copy after reading.
          CREDENTIALS_DIRECTORY
                      Set by systemd: where --passphrase-credential looks.
          PATH        Where --passphrase-command looks for its program.
          CIPHERDB_PAGE_CRYPTOGRAPHY
                      engine: SQLCipher's own code computes MACs and ciphertext.
        """
}
