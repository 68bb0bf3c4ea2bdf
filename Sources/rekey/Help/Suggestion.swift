import ArgumentParser

/// Finds the command that was meant by a misspelt name.
enum Suggestion {
    /// - Throws: for a first argument that names no command, and for a second one that names none of `keyring`, also after `help`;
    ///   for an option that is nearly one of the command's.
    static func check(_ arguments: [String]) throws {
        if arguments.first == "help" {
            return try checkCommand(arguments.dropFirst(), HelpTopic.allCases.map(\.rawValue), of: Rekey.self)
        }
        try checkCommand(arguments[...], [], of: Rekey.self)
    }

    private static func checkCommand(
        _ arguments: ArraySlice<String>,
        _ others: [String],
        of command: any ParsableCommand.Type
    ) throws {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty else { return try OptionSuggestion.check(arguments, of: command) }
        guard let name = arguments.first, !name.hasPrefix("-") else { return }
        if let found = subcommands.first(where: { $0.name == name }) {
            return try checkCommand(arguments.dropFirst(), [], of: found)
        }
        if others.contains(name) {
            guard arguments.count == 1 else {
                throw ValidationError("Unexpected argument '\(arguments[arguments.startIndex + 1])' after '\(name)'.")
            }
            return
        }
        // The name is an argument of the subcommand that may be left out.
        if let usual = command.configuration.defaultSubcommand {
            return try OptionSuggestion.check(arguments, of: usual)
        }
        throw UnknownCommand(name: name, nearest: nearest(to: name, others, of: command))
    }

    /// What was meant: a command of this level, or one of `keyring` that was typed without it.
    private static func nearest(to name: String, _ others: [String], of command: any ParsableCommand.Type) -> String? {
        let ofKeyring = command == Rekey.self ? KeyringCommand.configuration.subcommands.map { $0.name } : []
        if ofKeyring.contains(name) { return "keyring \(name)" }
        return nearest(to: name, among: command.configuration.subcommands.map { $0.name } + others)
            ?? nearest(to: name, among: ofKeyring, edits: 1).map { "keyring \($0)" }
    }

    /// The name that at most so many edits make of `name`, the nearest first; nil if there is none.
    static func nearest(to name: String, among names: [String], edits: Int = 2) -> String? {
        let known = names.map { (name: $0, distance: distance(Array(name), Array($0))) }
        return known.filter { $0.distance <= edits }.min { $0.distance < $1.distance }?.name
    }

    /// The number of characters to insert, delete, replace or exchange with the next one (optimal string alignment).
    private static func distance(_ from: [Character], _ to: [Character]) -> Int {
        var rows = [Array(0...to.count)]
        for i in from.indices {
            var row = [i + 1]
            for j in to.indices {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (from[i] == to[j] ? 0 : 1))
                if i > 0, j > 0, from[i] == to[j - 1], from[i - 1] == to[j] { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[from.count][to.count]
    }
}

/// A command that does not exist.
struct UnknownCommand: Error, CustomStringConvertible {
    let name: String
    let nearest: String?

    var description: String {
        "there is no command '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? "; see 'rekey --help'")
    }
}

/// Finds the option of a secret that was meant by a name that other tools have for it. ArgumentParser compares letters only.
enum OptionSuggestion {
    /// - Throws: for the first option that `command` does not have and that stands for one which it has.
    static func check(_ arguments: ArraySlice<String>, of command: any ParsableCommand.Type) throws {
        for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
            let name = String(argument.dropFirst(2).prefix { $0 != "=" })
            let meant = candidates(for: name)
            guard !meant.isEmpty else { continue }
            let known = options(of: command)
            guard !known.contains(name), let found = meant.first(where: known.contains) else { continue }
            throw UnknownOption(name: name, meant: found)
        }
    }

    /// The options that `name` may stand for, the likeliest first.
    private static func candidates(for name: String) -> [String] {
        let isNew = name.hasPrefix("new-")
        let secret = isNew ? String(name.dropFirst(4)) : name
        var candidates: [String] = []
        for word in ["passphrase", "password", "passwd", "pass"] where secret == word || secret.hasPrefix(word + "-") {
            candidates = ["passphrase" + secret.dropFirst(word.count), "passphrase-file"]
            break
        }
        if ["key", "keyfile", "raw-key", "rawkey", "key-file"].contains(secret) { candidates = ["key-file"] }
        // `encrypt` has one key only, which is new.
        return isNew ? candidates.map { "new-" + $0 } + candidates : candidates
    }

    private static func options(of command: any ParsableCommand.Type) -> Set<String> {
        Set(command.helpMessage(columns: 1000).matches(of: /--([a-z][a-z-]*)/).map { String($0.output.1) })
    }
}

/// An option that the command does not have.
struct UnknownOption: Error, CustomStringConvertible {
    let name: String
    let meant: String

    var description: String { "unknown option '--\(name)'; did you mean '--\(meant)'?" }
}
