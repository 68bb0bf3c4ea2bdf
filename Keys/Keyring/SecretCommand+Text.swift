// One command has one text, as `description` gives it; what is typed can be quoted otherwise and is the same command.
extension SecretCommand {
    /// A command by its text. Spaces separate the arguments. Between single quotes each character stands for itself; between double quotes
    /// too, but for a backslash before `"` and `\`; elsewhere a backslash makes the next character stand for itself.
    ///
    /// There are no variables, patterns, pipes and redirections: the characters of a shell for these must be quoted, the dollar sign and the backtick by
    /// single quotes.
    ///
    /// - Throws: ``MalformedCommand``.
    public init(_ text: String) throws(MalformedCommand) {
        var arguments: [String] = []
        var argument: String?
        var quote: Character?
        var rest = text[...]
        while let character = rest.popFirst() {
            switch (character, quote) {
            case (" ", nil):
                if let ended = argument { arguments.append(ended) }
                argument = nil
            case ("'", nil), ("\"", nil):
                quote = character
                argument = argument ?? ""
            case (_, let open?) where character == open: quote = nil
            case ("\\", nil):
                guard let next = rest.popFirst() else { throw .openQuote }
                argument = (argument ?? "") + String(next)
            case ("\\", "\""):
                let isEscape = rest.first == "\"" || rest.first == "\\"
                argument = (argument ?? "") + String(isEscape ? rest.removeFirst() : character)
            case (_, nil) where "$`|&;<>()*?[]{}~#!".contains(character), ("$", "\""), ("`", "\""):
                throw .shellCharacter(character)
            default: argument = (argument ?? "") + String(character)
            }
        }
        guard quote == nil else { throw .openQuote }
        if let ended = argument { arguments.append(ended) }
        try self.init(arguments: arguments)
    }
}

extension SecretCommand: CustomStringConvertible {
    /// The text, quoted where that is needed, so that it can be read back by ``init(_:)``, and by a shell.
    public var description: String { arguments.map(SecretCommand.quoted).joined(separator: " ") }

    private static func quoted(_ argument: String) -> String {
        let isPlain = argument.allSatisfy { $0.isLetter || $0.isNumber || "%+,-./:=@_".contains($0) }
        if isPlain, !argument.isEmpty { return argument }
        return "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
