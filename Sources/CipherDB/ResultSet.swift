/// The rows of a query, one after the other.
///
/// It belongs to its database, and to the same thread or task. It is closed at its end, by ``close()``, when its
/// statement runs again, and when the database closes; reading from it then throws.
public final class ResultSet {
    let statement: Statement
    private let execution: Int
    /// Whether the statement goes back to the database's cache.
    private let cached: Bool
    private var isOnRow = false
    private var isClosed = false
    private lazy var indexes: [String: Int] = {
        // SQLite's names do not mind the case of ASCII letters. Of two columns with one name the first is found.
        Dictionary(columnNames.enumerated().map { ($1.lowercased(), $0) }) { first, _ in first }
    }()

    init(_ statement: Statement, cached: Bool) {
        self.statement = statement
        self.cached = cached
        execution = statement.prepared.execution
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
            isOnRow = try statement.step()
        } catch {
            close()
            throw error
        }
        if !isOnRow { close() }
        return isOnRow
    }

    /// Gives the statement and its locks back. Closing twice does nothing.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        isOnRow = false
        guard statement.prepared.execution == execution else { return }
        statement.prepared.end()
        if cached { statement.database?.giveBack(statement) }
    }

    /// The names of the columns, in order.
    public var columnNames: [String] { statement.columnNames }

    /// The number of columns.
    public var columnCount: Int { statement.prepared.columnCount }

    /// The index, counted from 0, of the column with this name; the case of its letters does not matter.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/range`` where there is none.
    public func columnIndex(forName name: String) throws -> Int {
        guard let index = indexes[name.lowercased()] else {
            throw DatabaseError(.range, "the result has no column of the name \(name)", sql: statement.sql)
        }
        return index
    }

    /// A column of the current row.
    func column(_ index: Int) throws -> Column {
        try checkOpen()
        guard isOnRow else {
            throw DatabaseError(.misuse, "there is no current row; call next() first", sql: statement.sql)
        }
        guard index >= 0, index < columnCount else {
            throw DatabaseError(.range, "the result has no column \(index), it has \(columnCount)", sql: statement.sql)
        }
        return Column(statement: statement.prepared, index: index)
    }

    private func checkOpen() throws {
        guard !isClosed, statement.prepared.execution == execution, !statement.prepared.isFinalized else {
            throw DatabaseError(
                .misuse,
                "the result set is closed: it ended, its statement ran again, or its database was closed",
                sql: statement.sql
            )
        }
    }
}

/// It belongs to its database, and goes where that goes.
@available(*, unavailable)
extension ResultSet: Sendable {}
