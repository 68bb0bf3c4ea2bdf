import ArgumentParser

/// Finds the command that was meant by a misspelt name.
enum Suggestion {
    /// - Throws: for a first argument that names no command, and for a second one that names none of `keyring`.
    static func check(_ arguments: [String]) throws {
        try check(arguments[...], ["help"], of: Rekey.self)
    }

    private static func check(_ arguments: ArraySlice<String>, _ others: [String], of command: any ParsableCommand.Type)
        throws
    {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty, let name = arguments.first, !name.hasPrefix("-") else { return }
        if let found = subcommands.first(where: { $0.name == name }) {
            return try check(arguments.dropFirst(), [], of: found)
        }
        guard !others.contains(name) else { return }
        throw UnknownCommand(name: name, nearest: nearest(to: name, among: subcommands.map { $0.name }))
    }

    /// The name that at most two edits make of `name`, the nearest first; nil if there is none.
    static func nearest(to name: String, among names: [String]) -> String? {
        let known = names.map { (name: $0, distance: distance(Array(name), Array($0))) }
        return known.filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.name
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
