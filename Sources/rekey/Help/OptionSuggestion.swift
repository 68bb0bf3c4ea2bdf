import ArgumentParser

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
