/// A program with its arguments, whose output is the secret of a slot: the client of a TPM, a token or a key service.
///
/// ```swift
/// let command = try SecretCommand("/usr/bin/tpm2_unseal --object-context 0x81000001")
/// try unlocked.add(.command(command), label: "machine")
/// let again = try keyring.unlock(allowing: [command])
/// ```
///
/// It is run without a shell, without standard input, and for a minute at most; its error stream and its environment are those of
/// this process. It prints the secret byte for byte, the same each time. Its arguments are no secret: the keyring stores them
/// unencrypted.
public struct SecretCommand: Sendable, Hashable {
    /// The absolute path of the program, and its arguments.
    public let arguments: [String]

    static let mostArguments = 32
    static let longestArgument = 255
    private static let mostBytes = 1024
    private static let limit = Duration.seconds(60)

    /// A command by its arguments, of which the first is the absolute path of the program: nobody's `PATH` or directory decides what is
    /// run. There are 32 arguments at most, of 255 bytes at most each and 1,024 together, in printable ASCII: no two of them look the
    /// same.
    ///
    /// - Throws: ``MalformedCommand``.
    public init(arguments: [String]) throws(MalformedCommand) {
        guard let program = arguments.first, !program.isEmpty else { throw .empty }
        let printable: ClosedRange<UInt8> = 0x20...0x7e
        guard arguments.allSatisfy({ $0.utf8.allSatisfy(printable.contains) }) else { throw .unusableCharacter }
        guard program.hasPrefix("/") else { throw .relativePath(program) }
        guard arguments.count <= SecretCommand.mostArguments,
            arguments.allSatisfy({ $0.utf8.count <= SecretCommand.longestArgument }),
            arguments.reduce(0, { $0 + $1.utf8.count }) <= SecretCommand.mostBytes
        else { throw .tooLong }
        self.arguments = arguments
    }

    /// Reads the secret, byte for byte.
    ///
    /// - Parameter limit: When the program is ended.
    /// - Throws: ``KeySourceError``, naming the program without its arguments.
    func read(limit: Duration = SecretCommand.limit) throws -> SecretBytes {
        try CommandOutput.read(arguments, limit: limit)
    }

    /// What errors call it.
    var sourceName: String { "command \(arguments[0])" }
}

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

/// An error of a command that is to be kept in a slot.
public enum MalformedCommand: Error, Equatable, Sendable {
    /// No program is named.
    case empty
    /// The program is not named by an absolute path, but so.
    case relativePath(String)
    /// More than 32 arguments, 255 bytes in one, or 1,024 bytes together.
    case tooLong
    /// A character that is not printable ASCII.
    case unusableCharacter
    /// A character that means something to a shell, which does not run the command.
    case shellCharacter(Character)
    /// A quote that is not closed, or a backslash at the end.
    case openQuote
}

extension MalformedCommand: DescribedError {
    /// A sentence with what to do.
    public var description: String {
        switch self {
        case .empty: "the command is empty; give the absolute path of a program, and its arguments"
        case .relativePath(let program):
            "the program \(program.debugDescription) of the command has no absolute path; give it, such as /usr/bin/age"
        case .tooLong:
            "the command is too long: it has 32 arguments at most, of 255 bytes at most each, and 1,024 bytes together"
        case .unusableCharacter: "the command has a character that is not printable ASCII; call a script that has it"
        case .shellCharacter(let character):
            "no shell runs the command, so \(character) means nothing in it; quote it, or use an option of the program"
        case .openQuote: "the command has a quote that is not closed, or ends with a backslash"
        }
    }
}
