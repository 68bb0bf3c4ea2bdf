extension Statement {
    /// Runs it to its end with the values of `row` for its named parameters: a parameter has the name of a coding key, behind `:`,
    /// `@` or `$`. Keys without a parameter do not matter.
    ///
    /// - Throws: ``DatabaseError``, also for a parameter without a key: nothing runs then; what `row` throws.
    public func executeUpdate(encoding row: some Encodable) throws {
        try runToEnd { try bind(encoding: row) }
    }

    /// Starts it with the values of `row` for its named parameters, as ``executeUpdate(encoding:)``.
    ///
    /// - Throws: ``DatabaseError``, also for a parameter without a key; what `row` throws.
    public func executeQuery(encoding row: some Encodable) throws -> ResultSet {
        try begin { try bind(encoding: row) }
        return makeResultSet()
    }

    func bind(encoding row: some Encodable) throws {
        let values = try RowEncoder.values(of: row).map { ($0.name, $0.value) }
        try bind(Dictionary(values) { first, _ in first }, lenient: true)
    }
}

extension Database {
    /// Runs a statement with the values of `row` for its named parameters: a parameter has the name of a coding key, behind `:`,
    /// `@` or `$`. Keys without a parameter do not matter.
    ///
    /// ```swift
    /// try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", encoding: note)
    /// ```
    ///
    /// - Throws: ``DatabaseError``, also for a parameter without a key: nothing runs then; ``KeyError``; what `row` throws.
    public func executeUpdate(_ sql: String, encoding row: some Encodable) throws {
        try withCached(sql) { try $0.executeUpdate(encoding: row) }
    }

    /// Starts a query with the values of `row` for its named parameters, as ``executeUpdate(_:encoding:)``.
    ///
    /// - Throws: ``DatabaseError``, also for a parameter without a key; ``KeyError``; what `row` throws.
    public func executeQuery(_ sql: String, encoding row: some Encodable) throws -> ResultSet {
        try query(sql) { try $0.bind(encoding: row) }
    }
}
