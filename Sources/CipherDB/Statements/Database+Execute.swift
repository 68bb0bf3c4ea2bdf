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
        guard !text.hasByte(0) else {
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
    public func executeUpdate(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws {
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
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let statement = try cached(sql.source)
        defer { giveBack(statement) }
        try statement.executeUpdate(values: values)
    }

    /// Starts a query with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``.
    public func executeQuery(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws -> ResultSet {
        try executeQuery(sql, values: StatementValues(values))
    }

    /// Starts a query with these values for its parameters; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few; ``KeyError``.
    public func executeQuery(_ sql: SQL, values: StatementValues) throws -> ResultSet {
        guard sql.interpolated.isEmpty else {
            return try executeQuery(sql.withoutValues, values: sql.values(beside: values))
        }
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let statement = try cached(sql.source)
        do {
            try statement.begin { try statement.bind(values) }
        } catch {
            giveBack(statement)
            throw error
        }
        return statement.makeResultSet(cached: true)
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

extension Database {
    /// Runs a statement with these values for its parameters, in order. Rows that it returns are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then;
    ///   ``KeyError``.
    @inlinable public func executeUpdate<First: ColumnEncodable, each Rest: ColumnEncodable>(
        _ sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        try statement.runToEnd(statement.bind(first, repeat each rest))
    }

    /// Starts a query with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``.
    @inlinable public func executeQuery<First: ColumnEncodable, each Rest: ColumnEncodable>(
        _ sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> ResultSet {
        let stay = try enter()
        defer { leave(stay) }
        let statement = try cached(withoutValues: sql)
        do {
            return try statement.makeResultSet(statement.bind(first, repeat each rest), cached: true)
        } catch {
            giveBack(statement)
            throw error
        }
    }

    @usableFromInline func cached(withoutValues sql: SQL) throws -> Statement {
        // Whatever they are, there must be none in the SQL.
        if !sql.interpolated.isEmpty { _ = try sql.values(beside: [nil]) }
        return try cached(sql.source)
    }
}

extension Database {
    /// Runs any number of statements, one after the other, up to the first that fails.
    ///
    /// - Parameters:
    ///   - sql: The statements.
    ///   - values: Of values in order each statement takes as many as it has parameters; of values by name those of its
    ///     parameters.
    /// - Throws: ``DatabaseError``, also for a value too many or too few, of which the statements before have run;
    ///   ``KeyError``.
    public func executeStatements(_ sql: SQL, values: StatementValues = []) throws {
        try forEachStatement(of: sql, values) { try $0.runToEnd() }
    }

    /// Runs any number of statements, and calls `body` with each row that one of them returns. What `body` throws ends it.
    ///
    /// - Throws: as without `body`; what `body` throws.
    public func executeStatements(
        _ sql: SQL,
        values: StatementValues = [],
        withResultBlock body: ([String: DatabaseValue]) throws -> Void
    ) throws {
        try forEachStatement(of: sql, values) { statement in
            let rows = statement.makeResultSet()
            while try rows.next() { try body(rows.resultDictionary) }
        }
    }

    /// Calls `body` with each statement, whose values are bound.
    private func forEachStatement(
        of sql: SQL,
        _ values: StatementValues,
        _ body: (Statement) throws -> Void
    ) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let connection = try usableConnection()
        guard !sql.text.hasByte(0) else {
            throw DatabaseError(.error, "the SQL has a NUL character", sql: sql.text)
        }
        var values = try sql.values(beside: values)
        do {
            try connection.forEachStatement(of: sql.text) { compiled in
                let statement = Statement(compiled, database: self)
                try statement.begin { try statement.bind(values.take(statement.parameterCount)) }
                try body(statement)
            }
        } catch {
            throw explained(error)
        }
        guard values.isUsedUp else {
            throw DatabaseError(.range, "more values were given than the statements have parameters", sql: sql.text)
        }
    }
}

extension StatementValues {
    /// The values of the next statement, which has so many parameters.
    fileprivate mutating func take(_ count: Int) -> StatementValues {
        switch content {
        case .ordered(let values):
            self = StatementValues(Array(values.dropFirst(count)))
            return StatementValues(Array(values.prefix(count)))
        case .interpolated(let values):
            self = StatementValues(.interpolated(Array(values.dropFirst(count))))
            return StatementValues(.interpolated(Array(values.prefix(count))))
        case .named(let values, _): return StatementValues(.named(values, isLenient: true))
        }
    }

    /// Whether no value in order is left.
    fileprivate var isUsedUp: Bool {
        if case .named = content { true } else { isEmpty }
    }
}
