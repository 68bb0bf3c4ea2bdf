/// The columns of a row, by their names.
final class RowColumns {
    private let first: ResultColumn
    let names: ColumnNames
    /// Of a record inside of another, such as `team.`; empty for the whole row.
    let prefix: String

    /// - Parameter first: The first column of the row.
    init(_ first: ResultColumn, _ names: ColumnNames, prefix: String = "") {
        self.first = first
        self.names = names
        self.prefix = prefix
    }

    var hasPrefix: Bool { !prefix.isEmpty }
    var sql: String { first.sql }

    /// Whether the row may be read: within the call that decodes it, and on its thread.
    @inline(__always) var isMine: Bool { first.isMine }

    @inline(__always) func column(_ index: Int) -> ResultColumn { first.at(index) }

    /// Those of a record inside of this one.
    func ofRecord(_ key: some CodingKey) -> RowColumns {
        RowColumns(first, names, prefix: prefix + key.stringValue + ".")
    }
}

/// The names of a result's columns, and where each stands.
final class ColumnNames {
    /// Behind the end of such a name the columns are those of a record inside, until the next one (``SQL``).
    static let recordMark = ".*"
    let all: [String]
    /// Whether a column has a dot in its name, as one of a record inside of another.
    let hasRecords: Bool
    private let isSnakeCase: Bool
    /// The columns of the coding keys that were looked for, in their order: that of the next row is the same as a rule.
    // For each `@exclusivity(unchecked)`: the ``Turn`` of the connection keeps other threads out, and nothing is called while it is read or
    // written.
    @exclusivity(unchecked) private var found: [(key: String, index: Int?)] = []
    @exclusivity(unchecked) private var position = 0

    /// - Parameters:
    ///   - result: As the result has them: one that ends with ``recordMark`` begins a record.
    ///   - isSnakeCase: As ``ValueStorage/columnsAreSnakeCase``.
    init(_ result: [String], isSnakeCase: Bool = false) {
        self.isSnakeCase = isSnakeCase
        var prefix = ""
        let names = result.map { name in
            guard name.hasSuffix(ColumnNames.recordMark) else { return prefix + name }
            let record = name.dropLast(ColumnNames.recordMark.count)
            prefix = record.isEmpty ? "" : "\(record)."
            return name
        }
        all = names
        hasRecords = names.contains { $0.utf8.contains(UInt8(ascii: ".")) }
    }

    /// The same, for a reader of another thread.
    init(copyOf other: ColumnNames) {
        all = other.all
        hasRecords = other.hasRecords
        isSnakeCase = other.isSnakeCase
    }

    /// The index of the column with this name; nil where there is none. The case of letters does not matter, and of two columns with one
    /// name the first is found, as in SQLite.
    func index(ofName name: String) -> Int? {
        // To Swift an é of one and of two scalars are equal.
        for (index, other) in all.enumerated() where other.isSameName(as: name) { return index }
        let lowercased = name.lowercased()
        return all.firstIndex { $0.lowercased() == lowercased }
    }

    /// As ``index(ofName:)``, fast for names that are looked for in the same order for each row, also several times each.
    @inline(__always) func index(ofKey key: String) -> Int? {
        let next = position + 1 < found.count ? position + 1 : 0
        guard next < found.count, found[next].key == key else { return indexOutOfOrder(ofKey: key) }
        position = next
        return found[next].index
    }

    private func indexOutOfOrder(ofKey key: String) -> Int? {
        if position < found.count, found[position].key == key { return found[position].index }
        if let known = found.firstIndex(where: { $0.key == key }) {
            position = known
            return found[known].index
        }
        let index = index(ofName: key) ?? (isSnakeCase ? self.index(ofName: snakeCase(ofKey: key)) : nil)
        // Keys can be made of the data, without end.
        if found.count < 2 * all.count + 8, key.utf8.allSatisfy({ $0 < 0x80 }) {
            position = found.count
            found.append((key, index))
        }
        return index
    }

    /// The name of the column of a key; before its last dot stand the keys of records, as the program spells them.
    private func snakeCase(ofKey key: String) -> String {
        let start = key.lastIndex(of: ".").map(key.index(after:)) ?? key.startIndex
        return key[..<start] + String(key[start...]).snakeCase
    }

    /// The indices of the columns whose names are `name`, a dot, and another name: of a record inside of another.
    func indices(ofRecord name: String) -> [Int] {
        guard hasRecords else { return [] }
        let prefix = name + "."
        return all.indices.filter { all[$0].hasPrefix(prefix) && !all[$0].hasSuffix(ColumnNames.recordMark) }
    }
}

extension String {
    /// `baseURL` as `base_url`: by the rules of Foundation's `convertToSnakeCase`, by which a file may have been made.
    var snakeCase: String {
        let characters = Array(self)
        var words: [ArraySlice<Character>] = []
        var (start, next) = (0, 1)
        while next < characters.count, let capital = characters[next...].firstIndex(where: \.isUppercase) {
            words.append(characters[start..<capital])
            start = capital
            guard let small = characters[capital...].firstIndex(where: \.isLowercase) else { break }
            if small > capital + 1 {
                // The last capital begins a word, and those before it are one.
                words.append(characters[capital..<small - 1])
                start = small - 1
            }
            next = small + 1
        }
        words.append(characters[start...])
        return words.map { String($0).lowercased() }.joined(separator: "_")
    }
}
