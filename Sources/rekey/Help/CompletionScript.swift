import ArgumentParser

/// The completions of a shell, as ArgumentParser writes them, and the commands and topics of `rekey help`, which it leaves out.
enum CompletionScript {
    /// The script that arguments ask for; nil where they ask for none, or for a shell that ArgumentParser does not know.
    static func text(for arguments: [String]) -> String? {
        let option = "--generate-completion-script"
        let shell: CompletionShell?
        switch arguments.count {
        case 1 where arguments[0] == option: shell = .autodetected()
        case 1 where arguments[0].hasPrefix(option + "="):
            shell = CompletionShell(rawValue: String(arguments[0].dropFirst(option.count + 1)))
        case 2 where arguments[0] == option: shell = CompletionShell(rawValue: arguments[1])
        default: shell = nil
        }
        return shell.map { text(for: $0) + "\n" }
    }

    private static func text(for shell: CompletionShell) -> String {
        let script = Rekey.completionScript(for: shell)
        switch shell {
        case .fish: return script + fish
        case .bash: return replacingHelp(in: script, by: bash)
        case .zsh: return replacingHelp(in: script, by: zsh)
        default: return script
        }
    }

    /// Replaces the function that completes what stands behind `help`.
    private static func replacingHelp(in script: String, by function: String) -> String {
        script.replacing(/_rekey_help\(\) \{\n(?: .*\n|\n)*\}/, with: "_rekey_help() {\n\(function)\n}")
    }

    /// A word that can stand behind `help`, and what it is.
    private typealias Word = (name: String, abstract: String)

    private static var words: [Word] {
        words(of: Rekey.self) + HelpTopic.allCases.map { ($0.rawValue, $0.abstract) }
    }

    private static func words(of command: any ParsableCommand.Type) -> [Word] {
        command.configuration.subcommands.map { ($0.name, $0.configuration.abstract) }
    }

    /// The commands that have commands, whose names can stand behind `help` and their own.
    private static var groups: [(name: String, words: [Word])] {
        Rekey.configuration.subcommands.map { ($0.name, words(of: $0)) }.filter { !$0.words.isEmpty }
    }

    private static var bash: String {
        func offer(_ words: [Word]) -> String {
            "COMPREPLY=($(compgen -W '\(words.map(\.name).joined(separator: " "))' -- \"${cur}\"))"
        }
        let cases = groups.map { "    2\\ \($0.name)) \(offer($0.words)) ;;" }.joined(separator: "\n")
        return """
                case "${#unparsed_words[@]} ${unparsed_words[0]}" in
                1\\ *) \(offer(words)) ;;
            \(cases)
                esac
            """
    }

    private static var zsh: String {
        func offer(_ words: [Word]) -> String {
            let names = words.map { "'\($0.name):\(quoted($0.abstract, "'\\''"))'" }
            return "names=(\(names.joined(separator: " "))) ;;"
        }
        let cases = groups.map { "    3\\ \($0.name)) \(offer($0.words))" }.joined(separator: "\n")
        return """
                local -a names
                case "${CURRENT} ${words[2]}" in
                2\\ *) \(offer(words))
            \(cases)
                *) return 1 ;;
                esac
                _describe -V subcommand names
            """
    }

    private static var fish: String {
        func offer(_ words: [Word], _ position: Int, _ condition: String) -> String {
            let isThere = "__rekey_should_offer_completions_for_positional \"rekey help\" -eq \(position)\(condition)"
            return words.map {
                "\ncomplete -c 'rekey' -n '\(isThere)' -fa '\($0.name)' -d '\(quoted($0.abstract, "\\'"))'"
            }.joined()
        }
        return offer(words, 1, "")
            + groups.map { offer($0.words, 2, "; and __fish_seen_subcommand_from \($0.name)") }.joined()
    }

    private static func quoted(_ text: String, _ apostrophe: String) -> String {
        text.replacing("'", with: apostrophe)
    }
}
