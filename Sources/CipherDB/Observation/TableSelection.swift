/// Some tables, or all of them.
struct TableSelection: Sendable {
    /// Nil for all.
    private let tables: Set<TableName>?
    /// Names without a database, in lower case: they select the table in each database.
    private let names: Set<String>

    /// Nil for all; a name without a database selects the table in each database.
    init(tables: [TableName]?) {
        self.tables = tables.map { Set($0) }
        names = Set((tables ?? []).lazy.filter { $0.schema == nil }.map { $0.name.lowercased() })
    }

    func contains(_ table: TableName) -> Bool {
        guard let tables else { return true }
        return tables.contains(table) || !names.isEmpty && names.contains(table.name.lowercased())
    }
}
