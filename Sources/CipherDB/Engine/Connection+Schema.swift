internal import CSQLCipher

/// What a name stands for, without compiling a statement.
extension Connection {
    /// Whether it is a table, ordinary or virtual, and no view; by the schema that this connection read last.
    func isTable(_ table: TableName) -> Bool { hasColumn(nil, table) }

    /// Whether it is a table whose rows have rowids.
    func hasRowID(_ table: TableName) -> Bool {
        // One of these names may be that of a column.
        ["rowid", "_rowid_", "oid"].allSatisfy { hasColumn($0, table) }
    }

    private func hasColumn(_ column: String?, _ table: TableName) -> Bool {
        sqlite3_table_column_metadata(handle, table.schema, table.name, column, nil, nil, nil, nil, nil) == SQLITE_OK
    }
}
