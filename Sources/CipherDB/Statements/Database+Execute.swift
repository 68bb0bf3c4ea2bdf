extension Database {
    /// Compiles one statement, to be run many times. It is not kept in the cache.
    ///
    /// - Throws: ``DatabaseError`` for SQL that is wrong, empty, more than one statement, or has interpolated values;
    ///   ``KeyError``.
    public func prepare(_ sql: SQL) throws -> Statement {
        guard sql.interpolated.isEmpty else {
            throw DatabaseError(
                .misuse,
                "a prepared statement gets its values when it runs; write ? or :name for them",
                sql: sql.text
            )
        }
        return try inTurn { try prepare(text: sql.text) }
    }

    private func prepare(text: String) throws -> Statement {
        _ = try usableConnection()
        guard !text.utf8.contains(0) else {
            throw DatabaseError(.error, "the SQL has a NUL character", sql: text)
        }
        guard let (statement, rest) = try compile(text) else {
            throw DatabaseError(.error, "the SQL has no statement", sql: text)
        }
        guard rest.isEmpty || SQLScanner.isBlank(Array(rest.utf8)) else {
            statement.finalize()
            throw DatabaseError(.error, "the SQL has more than one statement; use executeStatements", sql: text)
        }
        return Statement(statement, database: self)
    }

    /// Runs a statement with these values for its parameters, in order. Rows that it returns are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then;
    ///   ``KeyError``.
    public func executeUpdate(_ sql: SQL, _ values: (any Bindable)?...) throws {
        try executeUpdate(sql, values: StatementValues(values))
    }

    /// Runs a statement with these values for its parameters. Rows that it returns are passed over.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few: nothing runs then; ``KeyError``.
    public func executeUpdate(_ sql: SQL, values: StatementValues) throws {
        // Without a copy of the values, which would take part of the time of a short statement.
        guard sql.interpolated.isEmpty else {
            return try executeUpdate(sql.withoutValues, values: sql.values(beside: values))
        }
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        let statement = try cached(sql.source)
        defer { giveBack(statement) }
        try statement.executeUpdate(values: values)
    }

    /// Starts a query with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``.
    public func executeQuery(_ sql: SQL, _ values: (any Bindable)?...) throws -> ResultSet {
        try executeQuery(sql, values: StatementValues(values))
    }

    /// Starts a query with these values for its parameters; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few; ``KeyError``.
    public func executeQuery(_ sql: SQL, values: StatementValues) throws -> ResultSet {
        guard sql.interpolated.isEmpty else {
            return try executeQuery(sql.withoutValues, values: sql.values(beside: values))
        }
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        let statement = try cached(sql.source)
        do {
            try statement.begin { try statement.bind(values) }
        } catch {
            giveBack(statement)
            throw error
        }
        return ResultSet(statement, cached: true)
    }

    private func compile(_ sql: String) throws -> (statement: PreparedStatement, rest: Substring)? {
        do {
            return try usableConnection().prepare(sql)
        } catch {
            throw explained(error)
        }
    }

    func cached(_ text: SQLText) throws -> Statement {
        if connectionInUse?._withUnsafeGuaranteedRef({ $0.isQuiet }) != true,
            // Compiling it again shows what it reads.
            try usableConnection().authorizer.recordedReads != nil
        {
            return try prepare(text: text.string)
        }
        if let statement = takeCached(text) { return statement }
        let statement = try prepare(text: text.string)
        cache.add(statement)
        return statement
    }
}
