/// An INSERT that does nothing but take one value for each column: `INSERT INTO t (a, b) VALUES (?, ?)`.
///
/// Of those it is certain that one statement with several rows does what several statements do.
struct PlainInsertion {
    /// Without what follows the row of parameters.
    private let sql: Substring
    private let row: Substring
    let parameterCount: Int

    /// - Returns: nil where the statement is another.
    init?(_ sql: String, parameterCount: Int) {
        let name = #/\s*(?:\w+|"[^"]*"|`[^`]*`|\[[^\]]*\])\s*/#
        let head = #/\s*(?:INSERT(?:\s+OR\s+\w+)?|REPLACE)\s+INTO\b/#.ignoresCase()
        let values = #/VALUES\s*(\(\s*\?(?:\s*,\s*\?)*\s*\))\s*;?\s*/#.ignoresCase()
        var rest = sql[...]
        guard let start = rest.prefixMatch(of: head) else { return nil }
        rest = rest[start.range.upperBound...]
        guard let table = rest.prefixMatch(of: name) else { return nil }
        rest = rest[table.range.upperBound...]
        if rest.first == "." {
            guard let table = rest.dropFirst().prefixMatch(of: name) else { return nil }
            rest = rest[table.range.upperBound...]
        }
        if rest.first == "(" {
            repeat {
                guard let column = rest.dropFirst().prefixMatch(of: name) else { return nil }
                rest = rest[column.range.upperBound...]
            } while rest.first == ","
            guard rest.first == ")" else { return nil }
            rest = rest.dropFirst().drop(while: \.isWhitespace)
        }
        guard let end = rest.wholeMatch(of: values), end.1.count(where: { $0 == "?" }) == parameterCount else {
            return nil
        }
        row = end.1
        self.sql = sql[..<row.endIndex]
        self.parameterCount = parameterCount
    }

    /// The statement for so many rows.
    func sql(ofRows count: Int) -> String {
        sql + String(repeating: ", " + row, count: count - 1)
    }
}

/// A statement that inserts several rows in one step, which takes less time than as many steps.
@usableFromInline struct InsertionOfRows {
    /// Compiling takes as long as inserting some 100 rows.
    static let leastRows = 512
    private static let mostRows = 32

    @usableFromInline let statement: Statement
    @usableFromInline let rowCount: Int

    /// - Returns: nil where the database's limits do not allow it.
    init?(_ insertion: PlainInsertion, _ database: Database) throws {
        rowCount = min(Self.mostRows, try database.limit(.parameters) / insertion.parameterCount)
        guard rowCount > 1, let statement = try? database.prepare(SQL(unsafe: insertion.sql(ofRows: rowCount))) else {
            return nil
        }
        self.statement = statement
        statement.prepared.buffer.size *= rowCount
    }

    /// Begins and ends an execution around `body`, which gets its number.
    @usableFromInline func running(_ body: (Int) throws -> Void) throws {
        defer { statement.prepared.finalize() }
        try statement.running(body)
    }
}
