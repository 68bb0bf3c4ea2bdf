/// The rows of a query, one at a time.
///
/// It belongs to its database, and to the same thread or task. It is closed at its end, by ``close()``, when its
/// statement runs again, and when the database closes; reading from it then throws.
public final class ResultSet {
    let statement: Statement
    @usableFromInline let prepared: PreparedStatement
    @usableFromInline let execution: Int
    /// Whether the statement goes back to the database's cache.
    private let cached: Bool
    /// How many columns the current row has; none where there is no row.
    // One thread at a time uses a result set, and an integer is read and written at once.
    @exclusivity(unchecked) @usableFromInline private(set) var rowWidth = 0
    // For these, too.
    @exclusivity(unchecked) private var isClosed = false
    @exclusivity(unchecked) private var namesRead: Names?
    /// The column that was found last by a coding key.
    @exclusivity(unchecked) private var found = 0
    /// How many rows there were so far.
    @exclusivity(unchecked) private(set) var rowNumber = 0

    private struct Names {
        let names: [String]
        /// Whether two differ in the case of their letters at most.
        let haveTwins: Bool
    }

    private var all: Names {
        if let namesRead { return namesRead }
        let names = columnNames
        let all = Names(names: names, haveTwins: Set(names.map { $0.lowercased() }).count < names.count)
        namesRead = all
        return all
    }

    private var names: [String] { all.names }

    init(_ statement: Statement, cached: Bool) {
        self.statement = statement
        self.cached = cached
        prepared = statement.prepared
        execution = prepared.execution
    }

    deinit {
        close()
    }

    /// Goes to the next row; false after the last, which also closes.
    ///
    /// - Throws: ``DatabaseError`` or ``KeyError``; an error is never taken for the end.
    public func next() throws -> Bool {
        try checkOpen()
        do {
            guard try statement.step() else {
                close()
                return false
            }
        } catch {
            close()
            throw error
        }
        rowWidth = prepared.rowWidth
        rowNumber += 1
        return true
    }

    /// Gives the statement and its locks back. Closing twice does nothing.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        rowWidth = 0
        // Else it was ended by somebody, and may run again.
        if prepared.execution == execution { prepared.end() }
        if cached { statement.database?.giveBack(statement) }
    }

    /// The names of the columns, in order.
    public var columnNames: [String] { statement.columnNames }

    /// The number of columns.
    public var columnCount: Int { prepared.columnCount }

    /// The index, counted from 0, of the column with this name; the case of its letters does not matter.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/range`` where there is none.
    public func columnIndex(forName name: String) throws -> Int {
        if let index = columnIndex(forKey: name) { return index }
        throw DatabaseError(.range, "the result has no column with the name \(name)", sql: statement.sql)
    }

    private func firstIndex(ofName name: String) -> Int? {
        // SQLite's names do not mind the case of ASCII letters. Of two columns with one name the first is found.
        for (index, other) in names.enumerated() where other == name || other.isEqualInASCII(to: name) { return index }
        let lowercased = name.lowercased()
        return names.firstIndex { $0.lowercased() == lowercased }
    }

    /// The index of the column with this name, or that of a coding key; nil where there is none. Columns are asked for in their order as a
    /// rule, and those of a key several times.
    func columnIndex(forKey name: String) -> Int? {
        let all = all
        if found < all.names.count, all.names[found] == name { return found }
        let next = found + 1 < all.names.count ? found + 1 : 0
        if !all.haveTwins, next < all.names.count, all.names[next] == name {
            found = next
            return found
        }
        guard let index = firstIndex(ofName: name) else { return nil }
        found = index
        return index
    }

    /// Whether a column has a dot in its name, as one of a record inside of another.
    private(set) lazy var hasRecords = names.contains { $0.utf8.contains(UInt8(ascii: ".")) }

    /// The indices of the columns whose names are `name`, a dot, and another name: of a record inside of another.
    func columns(ofRecord name: String) -> [Int] {
        guard hasRecords else { return [] }
        let prefix = name + "."
        return names.indices.filter { names[$0].hasPrefix(prefix) }
    }

    /// A column of the current row.
    @inlinable func column(_ index: Int) throws -> ResultColumn {
        guard hasColumn(index) else { throw whyNoColumn(index) }
        return ResultColumn(statement: prepared, index: index)
    }

    /// Whether there is a current row, and it has this column.
    @inlinable func hasColumn(_ index: Int) -> Bool {
        prepared.execution == execution && index >= 0 && index < rowWidth
    }

    @usableFromInline func whyNoColumn(_ index: Int) -> any Error {
        do { try checkOpen() } catch { return error }
        guard rowWidth > 0 else {
            return DatabaseError(.misuse, "there is no current row; call next() first", sql: statement.sql)
        }
        return DatabaseError(.range, "the result has no column \(index), it has \(columnCount)", sql: statement.sql)
    }

    private func checkOpen() throws {
        guard !isClosed, prepared.execution == execution else {
            throw DatabaseError(
                .misuse,
                "the result set is closed: its rows ended, the block that made it returned, its statement ran again, or its database was closed",
                sql: statement.sql
            )
        }
    }
}

extension String {
    /// Whether they are the same but for the case of ASCII letters.
    fileprivate func isEqualInASCII(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).allSatisfy { $0 == $1 || ($0 ^ $1 == 0x20 && (0x61...0x7a).contains($0 | 0x20)) }
    }
}
