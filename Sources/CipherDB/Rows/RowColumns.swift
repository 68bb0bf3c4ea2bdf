/// The columns of the current row of an execution, by their names.
final class RowColumns {
    private let prepared: PreparedStatement
    private let execution: Int
    private let width: Int
    let names: ColumnNames
    /// Of a record inside of another, such as `team.`; empty for the whole row.
    let prefix: String

    /// - Parameters:
    ///   - execution: That of the statement: when it is over there are no more rows.
    ///   - width: How many columns its rows have.
    init(_ prepared: PreparedStatement, execution: Int, width: Int, _ names: ColumnNames, prefix: String = "") {
        self.prepared = prepared
        self.execution = execution
        self.width = width
        self.names = names
        self.prefix = prefix
    }

    var hasPrefix: Bool { !prefix.isEmpty }
    var sql: String { prepared.sql }

    /// Whether the row may be read: within the call that decodes it, and on its thread.
    @inline(__always) var isMine: Bool { prepared.isMine }

    /// To be called where ``isMine``.
    @inline(__always) func column(_ index: Int) throws -> ResultColumn {
        guard prepared.execution == execution else { throw ResultSet.isClosed(sql: sql) }
        guard index < width else {
            throw DatabaseError(.range, "the result has no column \(index), it has \(width)", sql: sql)
        }
        return ResultColumn(statement: prepared, index: index)
    }

    /// Those of a record inside of this one.
    func ofRecord(_ key: some CodingKey) -> RowColumns {
        RowColumns(prepared, execution: execution, width: width, names, prefix: prefix + key.stringValue + ".")
    }
}
