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
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        let connection = try usableConnection()
        guard !sql.text.utf8.contains(0) else {
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
