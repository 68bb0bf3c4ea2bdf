/// Rows that are written by typed calls.
extension Database {
    /// Inserts a row of these values by the names of their columns; the other columns have their defaults. A record has an `insert` of its own
    /// (``PersistableRecord``).
    ///
    /// - Returns: the rowid of the row that was stored; nil where none was, as by `ON CONFLICT IGNORE` or a trigger's `RAISE(IGNORE)`, and
    ///   where it has none: in a table `WITHOUT ROWID`, whose stored rows ``changes`` counts, and in a view, whose triggers store what they
    ///   want.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func insert(into table: TableName, _ values: [String: (any ColumnEncodable)?]) throws -> Int64? {
        try insert(into: table, pairs(values))
    }

    /// Inserts a row of these values, unless that would break a constraint, such as a second row with its primary key.
    ///
    /// - Returns: as ``insert(into:_:)``.
    /// - Throws: ``DatabaseError``, also for a foreign key, which is not ignored; ``KeyError``.
    @discardableResult
    public func insertOrIgnore(into table: TableName, _ values: [String: (any ColumnEncodable)?]) throws -> Int64? {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        try executeUpdate(insertion(into: table, pairs(values), "OR IGNORE "))
        return insertedRowID(in: table)
    }

    /// Changes the rows that the condition is true of.
    ///
    /// - Returns: how many were changed; of a view, how many there were before.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func update(
        _ table: TableName,
        set values: [String: (any ColumnEncodable)?],
        where condition: Condition
    ) throws -> Int {
        try update(table, pairs(values), condition)
    }

    /// Changes every row of a table.
    ///
    /// - Returns: as ``update(_:set:where:)``.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func updateAll(_ table: TableName, set values: [String: (any ColumnEncodable)?]) throws -> Int {
        try update(table, pairs(values), nil)
    }

    /// Deletes the rows that the condition is true of.
    ///
    /// - Returns: how many were deleted; of a view, how many there were before.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func delete(from table: TableName, where condition: Condition) throws -> Int {
        try change(table, "DELETE FROM \(raw: table.quoted)\(sql: condition.clause(for: table))", condition)
    }

    /// Deletes every row of a table.
    ///
    /// - Returns: as ``delete(from:where:)``.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func deleteAll(from table: TableName) throws -> Int {
        // SQLite 3.15 does not count the rows of a table without rowids that it empties at once.
        let hasRowID = try inTurn { try usableConnection().hasRowID(table) }
        return try change(table, "DELETE FROM \(raw: table.quoted)\(raw: hasRowID ? "" : " WHERE 1")", nil)
    }

    // MARK: One way for each

    typealias Pairs = [(name: String, value: (any ColumnEncodable)?)]

    /// In one order, so that the same columns are the same SQL, which is compiled once.
    func pairs(_ values: [String: (any ColumnEncodable)?]) -> Pairs {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func insertion(into table: TableName, _ pairs: Pairs, _ resolution: SQL = "") -> SQL {
        let beginning: SQL = "INSERT \(sql: resolution)INTO \(raw: table.quoted)"
        guard !pairs.isEmpty else { return beginning + " DEFAULT VALUES" }
        let columns = pairs.map { quotedIdentifier($0.name) }.joined(separator: ", ")
        return beginning + " (\(raw: columns)) VALUES (\(list: pairs.map(\.value)))"
    }

    func insert(into table: TableName, _ pairs: Pairs) throws -> Int64? {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        try executeUpdate(insertion(into: table, pairs))
        return insertedRowID(in: table)
    }

    /// The rowid of the row that the last statement, an insertion into this table, stored.
    func insertedRowID(in table: TableName) -> Int64? {
        // SQLite counts neither a row that it passed over, nor what triggers store, nor the rows of a view.
        guard let connection, connection.changes > 0, connection.hasRowID(table) else { return nil }
        return connection.lastInsertRowID
    }

    /// Runs an update or a deletion.
    ///
    /// - Returns: how many rows there were; SQLite does not count those of a view.
    private func change(_ table: TableName, _ sql: SQL, _ condition: Condition?) throws -> Int {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard try usableConnection().isTable(table) else {
            return try inSavePoint { _ in
                let count = try count(in: table, where: condition)
                try executeUpdate(sql)
                return count
            }
        }
        try executeUpdate(sql)
        return changes
    }

    func update(_ table: TableName, _ pairs: Pairs, _ condition: Condition?) throws -> Int {
        guard !pairs.isEmpty else { throw DatabaseError(.misuse, "there are no values to set") }
        var sql: SQL = "UPDATE \(raw: table.quoted) SET "
        for (index, pair) in pairs.enumerated() {
            sql.append("\(raw: index == 0 ? "" : ", ")\(identifier: pair.name) = \(pair.value)")
        }
        if let condition { sql.append(condition.clause(for: table)) }
        return try change(table, sql, condition)
    }
}
