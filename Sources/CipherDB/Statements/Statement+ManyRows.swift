/// Many executions in one call: the statement begins and ends once.
extension Statement {
    // A list would else be taken for no values: a closure may drop what it makes.
    /// Runs it for each element, with the values that `values` makes of the element, in order. Rows that it returns are passed over.
    ///
    /// ```swift
    /// let insert = try database.prepare("INSERT INTO notes (id, text) VALUES (?, ?)")
    /// try insert.executeUpdate(forEach: notes) { ($0.id, $0.text) }
    /// ```
    ///
    /// Outside of a transaction it begins one, and all changes are undone when one fails. Inside of a transaction some changes stay when
    /// one fails, until the transaction is rolled back.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; what `values` throws.
    @_disfavoredOverload
    @inlinable public func executeUpdate<Elements: Sequence, each Value: ColumnEncodable>(
        forEach elements: Elements,
        _ values: (Elements.Element) throws -> (repeat each Value)
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        var count = 0
        _ = (repeat (each Value).count(in: &count))
        try check(count: count)
        try execute(forEach: elements) { element in
            let row = try values(element)
            var index = 0
            _ = (repeat try bind(each row, behind: &index))
        }
    }

    /// Runs it for each element, with the one value that `value` makes of the element, as `executeUpdate(forEach:_:)` does.
    ///
    /// - Throws: as there.
    @inlinable public func executeUpdate<Elements: Sequence, Value: ColumnEncodable>(
        forEach elements: Elements,
        _ value: (Elements.Element) throws -> Value
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        try check(count: 1)
        try execute(forEach: elements) { try value($0).bind(to: Parameter(statement: prepared, index: 1)) }
    }

    /// Runs it for each element, with the values that `values` makes of the element as a list, by name or by `.encoding`, as
    /// `executeUpdate(forEach:_:)` does.
    ///
    /// - Throws: as there, also for a name that is no parameter's.
    public func executeUpdate<Elements: Sequence>(
        forEach elements: Elements,
        _ values: (Elements.Element) throws -> StatementValues
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        try execute(forEach: elements) { try bind(values($0)) }
    }

    /// - Parameter bind: Binds the values of an element.
    @inlinable func execute<Elements: Sequence>(
        forEach elements: Elements,
        _ bind: (Elements.Element) throws -> Void
    ) throws {
        try inTransaction {
            try running { execution in
                for element in elements {
                    try bind(element)
                    try runBound(execution)
                }
            }
        }
    }

    /// Runs `body` in the transaction that is open, or one of its own.
    @usableFromInline func inTransaction(_ body: () throws -> Void) throws {
        guard let database else { throw DatabaseError(.misuse, "the statement's database was closed", sql: sql) }
        if database.isInTransaction { try body() } else { try database.inTransaction { _ in try body() } }
    }

    /// Begins and ends an execution around `body`, which gets its number.
    @usableFromInline func running(_ body: (Int) throws -> Void) throws {
        try prepared.begin()
        defer { prepared.end() }
        try body(prepared.execution)
    }

    /// Runs it with the values that are bound, and makes room for the next ones.
    @usableFromInline func runBound(_ execution: Int) throws {
        // A closure that made the values, or a function that the statement called, may have run it with others.
        guard prepared.execution == execution else {
            throw DatabaseError(
                .misuse,
                "the statement ran with other values before it was done with each element",
                sql: sql
            )
        }
        while try step() {}
        prepared.reuseBindings()
    }
}

extension Database {
    // A list would else be taken for no values: a closure may drop what it makes.
    /// Runs a statement for each element, with the values that `values` makes of the element, in order; see
    /// `Statement.executeUpdate(forEach:_:)`.
    ///
    /// ```swift
    /// try database.executeUpdate("INSERT INTO notes (id, text) VALUES (?, ?)", forEach: notes) { ($0.id, $0.text) }
    /// ```
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters; ``KeyError``; what `values` throws.
    @_disfavoredOverload
    @inlinable public func executeUpdate<Elements: Sequence, each Value: ColumnEncodable>(
        _ sql: SQL,
        forEach elements: Elements,
        _ values: (Elements.Element) throws -> (repeat each Value)
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        try statement.executeUpdate(forEach: elements, values)
    }

    /// Runs a statement for each element, with the one value that `value` makes of the element; see `Statement.executeUpdate(forEach:_:)`.
    ///
    /// - Throws: as there; ``KeyError``.
    @inlinable public func executeUpdate<Elements: Sequence, Value: ColumnEncodable>(
        _ sql: SQL,
        forEach elements: Elements,
        _ value: (Elements.Element) throws -> Value
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        try statement.executeUpdate(forEach: elements, value)
    }

    /// Runs a statement for each element, with the values that `values` makes of the element as a list, by name or by `.encoding`; see
    /// `Statement.executeUpdate(forEach:_:)`.
    ///
    /// - Throws: as there; ``KeyError``.
    public func executeUpdate<Elements: Sequence>(
        _ sql: SQL,
        forEach elements: Elements,
        _ values: (Elements.Element) throws -> StatementValues
    ) throws {
        let stay = try enter()
        defer { leave(stay) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        try statement.executeUpdate(forEach: elements, values)
    }
}
