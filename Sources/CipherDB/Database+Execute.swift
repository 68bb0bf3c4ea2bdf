extension Database {
    /// Compiles one statement, to be run many times. It is not kept in the cache.
    ///
    /// - Throws: ``DatabaseError`` for SQL that is wrong, empty, or more than one statement; ``KeyError``.
    public func prepare(_ sql: String) throws -> Statement {
        let connection = try usableConnection()
        guard !sql.utf8.contains(0) else { throw DatabaseError(.error, "the SQL has a NUL character in it", sql: sql) }
        guard let (statement, rest) = try compile(sql) else {
            throw DatabaseError(.error, "the SQL holds no statement", sql: sql)
        }
        guard try isBlank(rest, connection) else {
            statement.finalize()
            throw DatabaseError(.error, "the SQL holds more than one statement; use executeStatements", sql: sql)
        }
        return Statement(statement, database: self)
    }

    /// Whether nothing but spaces, semicolons and comments is left of a string of SQL.
    private func isBlank(_ sql: Substring, _ connection: Connection) throws -> Bool {
        guard !sql.isEmpty else { return true }
        // The engine itself knows what a comment is. Something that does not compile is not blank either.
        guard let found = try? connection.prepare(String(sql)) else {
            return (try? connection.execute(String(sql))) != nil
        }
        found.statement.finalize()
        return false
    }

    /// Runs a statement with these values for its parameters, in order. Rows that it returns are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then;
    ///   ``KeyError``.
    public func executeUpdate(_ sql: String, _ values: (any Bindable)?...) throws {
        try executeUpdate(sql, values: values)
    }

    /// Runs a statement with these values for its parameters, in order. Rows that it returns are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then;
    ///   ``KeyError``.
    public func executeUpdate(_ sql: String, values: [(any Bindable)?]) throws {
        try withCached(sql) { try $0.executeUpdate(values: values) }
    }

    /// Runs a statement with these values for its named parameters, whose names stand without `:`, `@` or `$`.
    ///
    /// - Throws: ``DatabaseError``, also for a name too many or too few: nothing runs then; ``KeyError``.
    public func executeUpdate(_ sql: String, withParameterDictionary values: [String: (any Bindable)?]) throws {
        try withCached(sql) { try $0.executeUpdate(withParameterDictionary: values) }
    }

    /// Starts a query with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``.
    public func executeQuery(_ sql: String, _ values: (any Bindable)?...) throws -> ResultSet {
        try executeQuery(sql, values: values)
    }

    /// Starts a query with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``.
    public func executeQuery(_ sql: String, values: [(any Bindable)?]) throws -> ResultSet {
        try query(sql) { try $0.bind(values) }
    }

    /// Starts a query with these values for its named parameters, whose names stand without `:`, `@` or `$`.
    ///
    /// - Throws: ``DatabaseError``, also for a name too many or too few; ``KeyError``.
    public func executeQuery(_ sql: String, withParameterDictionary values: [String: (any Bindable)?]) throws
        -> ResultSet
    {
        try query(sql) { try $0.bind(values) }
    }

    /// As the form with a dictionary; names that the statement does not have do not matter, as in FMDB.
    package func executeUpdate(_ sql: String, withLenientDictionary values: [String: (any Bindable)?]) throws {
        try withCached(sql) { statement in try statement.runToEnd { try statement.bind(values, lenient: true) } }
    }

    /// As the form with a dictionary; names that the statement does not have do not matter, as in FMDB.
    package func executeQuery(_ sql: String, withLenientDictionary values: [String: (any Bindable)?]) throws
        -> ResultSet
    {
        try query(sql) { try $0.bind(values, lenient: true) }
    }

    /// Runs any number of statements without parameters, one after the other, up to the first that fails.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func executeStatements(_ sql: String) throws {
        let connection = try usableConnection()
        guard !sql.utf8.contains(0) else { throw DatabaseError(.error, "the SQL has a NUL character in it", sql: sql) }
        do {
            try connection.forEachStatement(of: sql) { compiled in
                try compiled.begin()
                while try compiled.step() {}
            }
        } catch {
            throw explained(error)
        }
    }

    /// Runs any number of statements without parameters, and calls `body` with each row that one of them returns. What
    /// `body` throws ends it.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; what `body` throws.
    public func executeStatements(
        _ sql: String,
        withResultBlock body: ([String: DatabaseValue]) throws -> Void
    ) throws {
        guard !sql.utf8.contains(0) else { throw DatabaseError(.error, "the SQL has a NUL character in it", sql: sql) }
        do {
            try usableConnection().forEachStatement(of: sql) { compiled in
                let rows = try Statement(compiled, database: self).executeQuery()
                while try rows.next() { try body(rows.resultDictionary) }
            }
        } catch {
            throw explained(error)
        }
    }

    private func compile(_ sql: String) throws -> (statement: PreparedStatement, rest: Substring)? {
        do {
            return try usableConnection().prepare(sql)
        } catch {
            throw explained(error)
        }
    }

    func withCached(_ sql: String, _ body: (Statement) throws -> Void) throws {
        let statement = try cached(sql)
        defer { giveBack(statement) }
        try body(statement)
    }

    func query(_ sql: String, _ bind: (Statement) throws -> Void) throws -> ResultSet {
        let statement = try cached(sql)
        do {
            try statement.begin { try bind(statement) }
        } catch {
            giveBack(statement)
            throw error
        }
        return ResultSet(statement, cached: true)
    }

    @usableFromInline func cached(_ sql: String) throws -> Statement {
        // Compiling it anew tells what it reads.
        if try usableConnection().authorizer.recordedReads != nil { return try prepare(sql) }
        if let statement = takeCached(sql) { return statement }
        let statement = try prepare(sql)
        cache.lend(statement)
        return statement
    }
}
