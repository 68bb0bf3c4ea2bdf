/// The columns of the current row of an execution, by their names.
final class RowColumns {
    private let prepared: PreparedStatement
    private let execution: Int
    let names: ColumnNames
    /// Of a record inside of another, such as `team.`; empty for the whole row.
    let prefix: String

    /// - Parameters:
    ///   - execution: That of the statement: when it is over there are no more rows.
    init(_ prepared: PreparedStatement, execution: Int, _ names: ColumnNames, prefix: String = "") {
        self.prepared = prepared
        self.execution = execution
        self.names = names
        self.prefix = prefix
    }

    var hasPrefix: Bool { !prefix.isEmpty }
    var sql: String { prepared.sql }

    /// Whether the row may be read: within the call that decodes it, and on its thread.
    @inline(__always) var isMine: Bool { prepared.isMine }

    @inline(__always) func column(_ index: Int) -> ResultColumn {
        ResultColumn(statement: prepared, index: index, execution: execution)
    }

    /// Those of a record inside of this one.
    func ofRecord(_ key: some CodingKey) -> RowColumns {
        RowColumns(prepared, execution: execution, names, prefix: prefix + key.stringValue + ".")
    }
}
