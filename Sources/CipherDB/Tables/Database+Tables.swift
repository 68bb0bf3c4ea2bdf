/// Rows that are written by typed calls.
extension Database {
    /// Inserts a row of these values by the names of their columns; the other columns have their defaults.
    ///
    /// - Returns: the identifier of the row; of a table without them, that of the row inserted last in another.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func insert(into table: TableName, _ values: [String: (any Bindable)?]) throws -> Int64 {
        try insert(into: table, pairs(values))
    }

    /// Inserts a row of the values of `row`, whose coding keys are the names of the columns. Nil is NULL, also where the column has a
    /// default; as the rowid it is a new one, which is returned.
    ///
    /// - Returns: as ``insert(into:_:)``.
    /// - Throws: ``DatabaseError``, ``KeyError``; what `row` throws.
    @discardableResult
    public func insert(into table: TableName, encoding row: some Encodable) throws -> Int64 {
        try insert(into: table, RowEncoder.values(of: row))
    }

    /// Inserts a row of these values, unless that would break a constraint, such as a second row with its primary key.
    ///
    /// - Returns: as ``insert(into:_:)``; nil where no row was inserted.
    /// - Throws: ``DatabaseError``, also for a foreign key, which is not ignored; ``KeyError``.
    @discardableResult
    public func insertOrIgnore(into table: TableName, _ values: [String: (any Bindable)?]) throws -> Int64? {
        try insertOrIgnore(into: table, pairs(values))
    }

    /// Inserts a row of the values of `row`, as ``insertOrIgnore(into:_:)``.
    ///
    /// - Returns: as there.
    /// - Throws: as there; what `row` throws.
    @discardableResult
    public func insertOrIgnore(into table: TableName, encoding row: some Encodable) throws -> Int64? {
        try insertOrIgnore(into: table, RowEncoder.values(of: row))
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
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        try executeUpdate("DELETE FROM \(raw: table.quoted)\(sql: condition.clause(for: table))")
        return changes
    }

    /// Deletes every row of a table.
    ///
    /// - Returns: how many there were; of a WITHOUT ROWID table 0 with SQLite 3.15, which does not count them.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func deleteAll(from table: TableName) throws -> Int {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        try executeUpdate("DELETE FROM \(raw: table.quoted)")
        return changes
    }

    // MARK: One way for each

    typealias Pairs = [(name: String, value: (any Bindable)?)]

    /// In one order, so that the same columns are the same SQL, which is compiled once.
    func pairs(_ values: [String: (any Bindable)?]) -> Pairs {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func insertion(into table: TableName, _ pairs: Pairs, _ resolution: SQL = "") -> SQL {
        let beginning: SQL = "INSERT \(sql: resolution)INTO \(raw: table.quoted)"
        guard !pairs.isEmpty else { return beginning + " DEFAULT VALUES" }
        let columns = pairs.map { quotedIdentifier($0.name) }.joined(separator: ", ")
        return beginning + " (\(raw: columns)) VALUES (\(list: pairs.map(\.value)))"
    }

    private func insertOrIgnore(into table: TableName, _ pairs: Pairs) throws -> Int64? {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        try executeUpdate(insertion(into: table, pairs, "OR IGNORE "))
        return changes == 0 ? nil : lastInsertRowID
    }

    private func insert(into table: TableName, _ pairs: Pairs) throws -> Int64 {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        try executeUpdate(insertion(into: table, pairs))
        return lastInsertRowID
    }

    private func update(_ table: TableName, _ pairs: Pairs, _ condition: Condition?) throws -> Int {
        guard !pairs.isEmpty else { throw DatabaseError(.misuse, "there are no values to set") }
        var sql: SQL = "UPDATE \(raw: table.quoted) SET "
        for (index, pair) in pairs.enumerated() {
            sql.append("\(raw: index == 0 ? "" : ", ")\(identifier: pair.name) = \(pair.value)")
        }
        if let condition { sql.append(condition.clause(for: table)) }
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        try executeUpdate(sql)
        return changes
    }
}
