/// Rows that are found by typed calls.
extension Database {
    /// Starts a query of rows of a table: all columns unless some are named, all rows unless there is a condition.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: Condition? = nil,
        orderedBy ordering: [Ordering] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet {
        var sql: SQL = "SELECT \(raw: columns.isEmpty ? "*" : columns.map(table.column).joined(separator: ", "))"
        sql.append(" FROM \(raw: table.quoted)")
        if let condition { sql.append(condition.clause(for: table)) }
        if !ordering.isEmpty {
            let terms = ordering.map { table.column($0.column) + " " + $0.keyword }
            sql.append(" ORDER BY \(raw: terms.joined(separator: ", "))")
        }
        // Without a limit there is none in SQL but a negative one.
        if limit != nil || offset > 0 { sql.append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
        return try executeQuery(sql)
    }

    /// The names of a table's columns; none where there is no such table.
    func names(of table: TableName) throws -> [String] {
        let columns = try tableSchema(of: table)
        defer { columns.close() }
        var names: [String] = []
        while try columns.next() { names.append(try columns["name"]) }
        return names
    }

    /// How many rows of a table the condition is true of; all of them without one.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func count(in table: TableName, where condition: Condition? = nil) throws -> Int {
        var sql: SQL = "SELECT count(*) FROM \(raw: table.quoted)"
        if let condition { sql.append(condition.clause(for: table)) }
        return try value(forQuery: sql) ?? 0
    }

    /// The one column of the primary key.
    ///
    /// - Throws: ``DatabaseError`` where it is not one column.
    func keyColumn(of table: TableName) throws -> Column {
        let key = try primaryKey(of: table)
        guard key.count == 1 else {
            throw DatabaseError(.misuse, "the primary key of \(table) is not one column; use fetchOne, or select")
        }
        return Column(key[0].name)
    }

    /// The columns of the primary key, in order. One integer is the rowid (sqlite.org/lang_createtable.html#rowid).
    func primaryKey(of table: TableName) throws -> [(name: String, type: String)] {
        let columns = try tableSchema(of: table)
        defer { columns.close() }
        var key: [(place: Int, name: String, type: String)] = []
        while try columns.next() {
            let place = try columns.int(forColumn: "pk") ?? 0
            if place > 0 { key.append((place, try columns["name"], try columns["type"])) }
        }
        return key.sorted { $0.place < $1.place }.map { ($0.name, $0.type) }
    }
}
