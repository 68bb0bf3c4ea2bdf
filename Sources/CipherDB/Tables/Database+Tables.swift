extension Database {
    /// Makes a table.
    ///
    /// ```swift
    /// try database.createTable(
    ///     "notes",
    ///     columns: [
    ///         ColumnDefinition("id", .integer, .primaryKey),
    ///         ColumnDefinition("text", .text, .notNull),
    ///         ColumnDefinition("folder", .integer, .references("folders", "id", onDelete: .cascade)),
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
        let parts = columns.map(\.sql) + constraints.map(\.sql)
        try executeUpdate(
            "CREATE TABLE \(ifNotExists ? "IF NOT EXISTS " : "")\(table.quoted) (\(parts.joined(separator: ", ")))"
                + (withoutRowID ? " WITHOUT ROWID" : "")
        )
    }

    /// Removes a table with its rows and indexes.
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - ifExists: It is no error where there is none.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func dropTable(_ table: TableName, ifExists: Bool = false) throws {
        try executeUpdate("DROP TABLE \(ifExists ? "IF EXISTS " : "")\(table.quoted)")
    }

    // MARK: Rows

    /// Inserts a row of these values by the names of their columns; the other columns have their defaults.
    ///
    /// - Returns: the identifier of the row; of a table without them, that of the row inserted last in another.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func insert(into table: TableName, _ values: [String: (any Bindable)?]) throws -> Int64 {
        try insert(into: table, pairs(values))
    }

    /// Inserts a row of the values of `row`, whose coding keys are the names of the columns. Nil is NULL, also where the column has a
    /// default; as the row identifier it is a new one, which is returned.
    ///
    /// - Returns: as ``insert(into:_:)``.
    /// - Throws: ``DatabaseError``, ``KeyError``; what `row` throws.
    @discardableResult
    public func insert(into table: TableName, encoding row: some Encodable) throws -> Int64 {
        try insert(into: table, RowEncoder.values(of: row))
    }

    /// Inserts a row of these values; where one is there with the same values in `columns`, which must be its primary key or unique,
    /// that one gets the others, and keeps its row identifier where that is nil.
    ///
    /// - Throws: ``DatabaseError``, also with an engine without it, before SQLite 3.24 (``Capability/upsert``); ``KeyError``.
    public func upsert(
        into table: TableName,
        _ values: [String: (any Bindable)?],
        conflictOn columns: String...
    ) throws {
        try upsert(into: table, pairs(values), columns)
    }

    /// Inserts the values of `row`, or changes the row that is there, as ``upsert(into:_:conflictOn:)``.
    ///
    /// - Throws: as there; what `row` throws.
    public func upsert(into table: TableName, encoding row: some Encodable, conflictOn columns: String...) throws {
        try upsert(into: table, RowEncoder.values(of: row), columns)
    }

    /// Starts a query of rows of a table: all columns unless some are named, all rows unless there is a condition.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: Condition? = nil,
        orderedBy ordering: [Ordering] = [],
        limit: Int? = nil
    ) throws -> ResultSet {
        var sql: SQL = "SELECT \(raw: columns.isEmpty ? "*" : columns.map(table.column).joined(separator: ", "))"
        sql.append(" FROM \(raw: table.quoted)")
        if let condition { sql.append(condition.clause(for: table)) }
        if !ordering.isEmpty {
            let terms = ordering.map { table.column($0.column) + " " + $0.keyword }
            sql.append(" ORDER BY \(raw: terms.joined(separator: ", "))")
        }
        if let limit { sql.append(" LIMIT \(limit)") }
        return try executeQuery(withFormat: sql)
    }

    /// Changes the rows that the condition is true of.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func update(
        _ table: TableName,
        set values: [String: (any Bindable)?],
        where condition: Condition
    ) throws -> Int {
        try update(table, pairs(values), condition)
    }

    /// Gives the rows that the condition is true of the values of `row`.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``DatabaseError``, ``KeyError``; what `row` throws.
    @discardableResult
    public func update(_ table: TableName, encoding row: some Encodable, where condition: Condition) throws -> Int {
        try update(table, RowEncoder.values(of: row), condition)
    }

    /// Changes every row of a table.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func updateAll(_ table: TableName, set values: [String: (any Bindable)?]) throws -> Int {
        try update(table, pairs(values), nil)
    }

    /// Deletes the rows that the condition is true of.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func delete(from table: TableName, where condition: Condition) throws -> Int {
        try executeUpdate(withFormat: "DELETE FROM \(raw: table.quoted)\(sql: condition.clause(for: table))")
        return changes
    }

    /// Deletes every row of a table.
    ///
    /// - Returns: how many there were; of a table without row identifiers 0 with SQLite 3.15, which does not count them.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func deleteAll(from table: TableName) throws -> Int {
        try executeUpdate("DELETE FROM \(table.quoted)")
        return changes
    }

    // MARK: One way for each

    private typealias Pairs = [(name: String, value: (any Bindable)?)]

    /// In one order, so that the same columns are the same SQL, which is compiled once.
    private func pairs(_ values: [String: (any Bindable)?]) -> Pairs {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func insertion(into table: TableName, _ pairs: Pairs) -> SQL {
        guard !pairs.isEmpty else { return "INSERT INTO \(raw: table.quoted) DEFAULT VALUES" }
        let columns = pairs.map { quotedIdentifier($0.name) }.joined(separator: ", ")
        return "INSERT INTO \(raw: table.quoted) (\(raw: columns)) VALUES (\(list: pairs.map(\.value)))"
    }

    private func insert(into table: TableName, _ pairs: Pairs) throws -> Int64 {
        try executeUpdate(withFormat: insertion(into: table, pairs))
        return lastInsertRowID
    }

    private func upsert(into table: TableName, _ pairs: Pairs, _ columns: [String]) throws {
        guard Engine.current.has(.upsert) else {
            throw DatabaseError(
                .error,
                "upsert needs SQLite 3.24, and this engine has \(Engine.current.sqliteVersion); update, and insert where nothing changed"
            )
        }
        // Without a value the row identifier is a new one, which the row that is there must not get.
        let rowID = pairs.contains { $0.value == nil } ? try rowIDColumn(of: table) : nil
        let pairs = pairs.filter { $0.value != nil || $0.name.lowercased() != rowID?.lowercased() }
        let others = pairs.filter { !columns.contains($0.name) }.map { quotedIdentifier($0.name) }
        let action =
            others.isEmpty
            ? "NOTHING" : "UPDATE SET " + others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        var sql = insertion(into: table, pairs)
        sql.append(" ON CONFLICT (\(raw: columns.map(quotedIdentifier).joined(separator: ", "))) DO \(raw: action)")
        try executeUpdate(withFormat: sql)
    }

    /// The column that is the row identifier (sqlite.org/lang_createtable.html#rowid); nil where none is.
    private func rowIDColumn(of table: TableName) throws -> String? {
        let columns = try tableSchema(of: table)
        defer { columns.close() }
        var keys: [(name: String, type: String)] = []
        while try columns.next() {
            if try columns.int(forColumn: "pk") ?? 0 > 0 { keys.append((try columns["name"], try columns["type"])) }
        }
        return keys.count == 1 && keys[0].type.lowercased() == "integer" ? keys[0].name : nil
    }

    private func update(_ table: TableName, _ pairs: Pairs, _ condition: Condition?) throws -> Int {
        guard !pairs.isEmpty else { throw DatabaseError(.misuse, "there are no values to set") }
        var sql: SQL = "UPDATE \(raw: table.quoted) SET "
        for (index, pair) in pairs.enumerated() {
            sql.append("\(raw: index == 0 ? "" : ", ")\(identifier: pair.name) = \(pair.value)")
        }
        if let condition { sql.append(condition.clause(for: table)) }
        try executeUpdate(withFormat: sql)
        return changes
    }
}
