/// Some tables, or all of them.
struct TableSelection: Sendable {
    /// Nil for all. One without a database is meant in each of them.
    let tables: Set<TableName>?

    func contains(_ table: TableName) -> Bool {
        guard let tables else { return true }
        return tables.contains(table) || tables.contains(TableName(table.name))
    }
}
