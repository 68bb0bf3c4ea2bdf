/// Values whose types the compiler knows: nothing is allocated for them, and they are bound without being looked at first.
extension Statement {
    /// Runs it to its end with these values for its parameters, in order. Rows, if any, are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then.
    @inlinable public func executeUpdate<First: Bindable, each Rest: Bindable>(
        _ first: First,
        _ rest: repeat each Rest
    ) throws {
        let isOuter = try enter()
        defer { leave(isOuter) }
        try bind(first, repeat each rest)
        try runToEnd()
    }

    /// Starts it with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters.
    @inlinable public func executeQuery<First: Bindable, each Rest: Bindable>(
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> ResultSet {
        let isOuter = try enter()
        defer { leave(isOuter) }
        try bind(first, repeat each rest)
        return makeResultSet()
    }

    @inlinable func bind<First: Bindable, each Rest: Bindable>(_ first: First, _ rest: repeat each Rest) throws {
        var count = 1
        _ = (repeat (each Rest).count(in: &count))
        try beginBinding(count: count)
        do {
            var index = 0
            try bind(first, behind: &index)
            _ = (repeat try bind(each rest, behind: &index))
        } catch {
            abandon()
            throw error
        }
    }

    /// Binds one value to the parameter behind `index`. Expansions of packs call it: a loop over one copies each value twice.
    @inlinable @inline(__always) func bind(_ value: some Bindable, behind index: inout Int) throws {
        index += 1
        try value.bind(to: Parameter(statement: prepared, index: index))
    }

    /// Makes it ready to run with so many new values; result sets of earlier executions end.
    @usableFromInline func beginBinding(count: Int) throws {
        try prepared.begin()
        do {
            try check(count: count)
        } catch {
            prepared.end()
            throw error
        }
    }

    @usableFromInline func abandon() {
        prepared.end()
    }

    /// Runs it with the values that are bound.
    @usableFromInline func runToEnd() throws {
        defer { prepared.end() }
        while try step() {}
    }

    @usableFromInline func makeResultSet() -> ResultSet {
        ResultSet(self, cached: false)
    }
}

extension Database {
    /// Runs a statement with these values for its parameters, in order. Rows that it returns are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then;
    ///   ``KeyError``.
    @inlinable public func executeUpdate<First: Bindable, each Rest: Bindable>(
        _ sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws {
        let isOuter = try enter()
        defer { leave(isOuter) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        try statement.bind(first, repeat each rest)
        try statement.runToEnd()
    }

    /// Starts a query with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``.
    @inlinable public func executeQuery<First: Bindable, each Rest: Bindable>(
        _ sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> ResultSet {
        let isOuter = try enter()
        defer { leave(isOuter) }
        let statement = try cached(withoutValues: sql)
        do {
            try statement.bind(first, repeat each rest)
        } catch {
            giveBack(statement)
            throw error
        }
        return makeResultSet(statement)
    }

    @usableFromInline func cached(withoutValues sql: SQL) throws -> Statement {
        // Whatever they are, there must be none in the SQL.
        if !sql.interpolated.isEmpty { _ = try sql.values(beside: [nil]) }
        return try cached(sql.source)
    }

    @usableFromInline func makeResultSet(_ statement: Statement) -> ResultSet {
        ResultSet(statement, cached: true)
    }
}
