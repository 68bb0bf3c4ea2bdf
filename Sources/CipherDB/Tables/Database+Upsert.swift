/// Rows that are inserted, or changed where they are there.
extension Database {
    /// Inserts a row of these values; where one is there with the same values in `columns`, that one gets the others, and keeps its
    /// rowid if that is nil.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - values: The values by the names of their columns.
    ///   - columns: The primary key, unless others are named, which must be unique.
    /// - Returns: the rowid of the row, also where it was there; of a WITHOUT ROWID table its primary key where that is one integer. Nil
    ///   for another one, and where nothing was stored, as by `ON CONFLICT IGNORE` or a trigger's `RAISE(IGNORE)`.
    /// - Throws: ``DatabaseError``, also with an engine without it, before SQLite 3.24 (``Capability/upsert``); ``KeyError``.
    @discardableResult
    public func upsert(
        into table: TableName,
        _ values: [String: (any ColumnEncodable)?],
        onConflict columns: String...
    ) throws -> Int64? {
        try upsert(into: table, pairs(values), columns)
    }

    func upsert(into table: TableName, _ pairs: Pairs, _ columns: [String]) throws -> Int64? {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard Engine.current.has(.upsert) else {
            throw DatabaseError(
                .error,
                "upsert needs SQLite 3.24; this engine has \(Engine.current.sqliteVersion): run an update, then insert if no row changed"
            )
        }
        let key = try primaryKey(of: table)
        let columns = columns.isEmpty ? key.map(\.name) : columns
        guard !columns.isEmpty else {
            throw DatabaseError(.misuse, "\(table) has no primary key; name the columns that are unique (onConflict)")
        }
        // Without a value the rowid is a new one, which the existing row must not get.
        let rowID = key.count == 1 && key[0].type.lowercased() == "integer" ? key[0].name : nil
        let pairs = try pairs.filter { pair in
            try rowID?.isSameName(as: pair.name) != true || pair.value?.databaseValue(in: storage) ?? .null != .null
        }
        guard !pairs.isEmpty else { return try insert(into: table, pairs) }
        let others = pairs.filter { pair in !columns.contains { $0.isSameName(as: pair.name) } }
            .map { quotedIdentifier($0.name) }
        let action =
            others.isEmpty
            ? "NOTHING" : "UPDATE SET " + others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        var sql = insertion(into: table, pairs)
        sql.append(" ON CONFLICT (\(raw: columns.map(quotedIdentifier).joined(separator: ", "))) DO \(raw: action)")
        guard let name = try rowID ?? rowIDName(of: table) else {
            try executeUpdate(sql)
            return nil
        }
        // Where nothing is done, nothing is returned.
        if Engine.current.has(.returning), !others.isEmpty {
            let rows = try executeQuery(sql + " RETURNING \(identifier: name)")
            defer { rows.close() }
            var found: Int64?
            while try rows.next() { found = try rows[0] }
            return found
        }
        return try inSavePoint { _ in
            try executeUpdate(sql)
            guard changes > 0 || others.isEmpty else { return nil }
            return try upserted(table, name, pairs, columns) ?? insertedRowID(in: table)
        }
    }

    /// The rowid of the row that has the values in these columns; nil where a NULL is among them, which no other row can have had.
    private func upserted(_ table: TableName, _ rowID: String, _ pairs: Pairs, _ columns: [String]) throws -> Int64? {
        var sql: SQL = "SELECT \(raw: table.column(rowID)) FROM \(raw: table.quoted) WHERE 1"
        for column in columns {
            sql += " AND \(raw: table.column(column)) = "
            if let pair = pairs.first(where: { $0.name.isSameName(as: column) }) {
                sql += "\(pair.value)"
            } else {
                sql += "(\(raw: try defaultSQL(of: column, in: table) ?? "NULL"))"
            }
        }
        return try value(forQuery: sql)
    }

    /// The default of a column, as it stands in the schema.
    private func defaultSQL(of column: String, in table: TableName) throws -> String? {
        let columns = try tableSchema(of: table)
        defer { columns.close() }
        while try columns.next() {
            let name: String = try columns["name"]
            if name.isSameName(as: column) { return try columns["dflt_value"] }
        }
        return nil
    }

    /// A name of the rowid that no column has; nil where there is none, as of a WITHOUT ROWID table.
    private func rowIDName(of table: TableName) throws -> String? {
        let columns = Set(try names(of: table).map { $0.lowercased() })
        guard let name = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }) else { return nil }
        do {
            giveBack(try cached(.string("SELECT \(table.column(name)) FROM \(table.quoted)")))
            return name
        } catch let error as DatabaseError where error.code == .error {
            return nil
        }
    }
}
