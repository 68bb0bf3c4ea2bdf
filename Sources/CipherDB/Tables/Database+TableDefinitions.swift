/// Tables, indexes and columns that are made and removed by typed calls.
extension Database {
    /// Makes a table.
    ///
    /// ```swift
    /// try database.createTable(
    ///     "notes",
    ///     columns: [
    ///         ColumnDefinition("id", .integer, .primaryKey),
    ///         ColumnDefinition("text", .text, .notNull),
    ///         ColumnDefinition("list", .integer, .references("lists", onDelete: .cascade)),
    ///     ]
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - columns: Its columns, in order.
    ///   - constraints: What must be true of several of them.
    ///   - ifNotExists: Nothing is done where there is a table of this name, whatever its columns are.
    ///   - withoutRowID: The rows are kept in the order of the primary key, which such a table must have.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func createTable(
        _ table: TableName,
        columns: [ColumnDefinition],
        constraints: [TableConstraint] = [],
        ifNotExists: Bool = false,
        withoutRowID: Bool = false
    ) throws {
        let parts = try columns.map { try $0.sql(storage) } + constraints.map { try $0.sql(storage) }
        let name = (ifNotExists ? "IF NOT EXISTS " : "") + table.quoted
        let options = withoutRowID ? " WITHOUT ROWID" : ""
        try executeUpdate("CREATE TABLE \(raw: name) (\(raw: parts.joined(separator: ", ")))\(raw: options)")
    }

    /// Removes a table with its rows and indexes.
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - ifExists: It is no error where there is none.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func dropTable(_ table: TableName, ifExists: Bool = false) throws {
        try executeUpdate("DROP TABLE \(raw: ifExists ? "IF EXISTS " : "")\(raw: table.quoted)")
    }

    /// Makes an index. Its entries are sorted in memory, all at once: 1 GB for an index of 1 GB.
    ///
    /// ```swift
    /// try database.createIndex("notes_by_due", on: "notes", columns: ["due", "id"])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; it stands in the database of the table.
    ///   - table: The table.
    ///   - columns: The columns by which rows are found, in order.
    ///   - unique: Whether no two rows have the same values in them; several may have NULL.
    ///   - condition: The rows that are in it; nil for all. Its values become literals.
    ///   - ifNotExists: Nothing is done where there is an index of this name, whatever its columns are.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func createIndex(
        _ name: String,
        on table: TableName,
        columns: [String],
        unique: Bool = false,
        where condition: Condition? = nil,
        ifNotExists: Bool = false
    ) throws {
        let kind = (unique ? "UNIQUE INDEX " : "INDEX ") + (ifNotExists ? "IF NOT EXISTS " : "")
        let schema = table.schema.map { quotedIdentifier($0) + "." } ?? ""
        let list = columns.map(quotedIdentifier).joined(separator: ", ")
        var sql: SQL =
            "CREATE \(raw: kind)\(raw: schema)\(identifier: name) ON \(identifier: table.name) (\(raw: list))"
        if let condition { sql.append("\(raw: try condition.clause(for: table).literal(in: storage))") }
        try executeUpdate(sql)
    }

    /// Removes an index.
    ///
    /// - Throws: ``DatabaseError``, also where there is none, unless `ifExists`; ``KeyError``.
    public func dropIndex(_ name: String, ifExists: Bool = false) throws {
        try executeUpdate("DROP INDEX \(raw: ifExists ? "IF EXISTS " : "")\(identifier: name)")
    }

    /// Adds a column to a table, behind those that it has; rows that are there get its default, or NULL.
    ///
    /// - Throws: ``DatabaseError``, also for a column that SQLite cannot add: a primary key, one that is unique, or one that is
    ///   not NULL without a default (sqlite.org/lang_altertable.html); ``KeyError``.
    public func addColumn(_ column: ColumnDefinition, to table: TableName) throws {
        try executeUpdate("ALTER TABLE \(raw: table.quoted) ADD COLUMN \(raw: column.sql(storage))")
    }
}
