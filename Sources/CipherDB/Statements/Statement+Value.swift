/// One value of a query, which needs no result set.
extension Statement {
    /// Runs it with these values for its parameters, in order, and returns the first column of the first row; nil for NULL, and where there
    /// is no row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters, and for a value of another kind.
    @inlinable public func value<Value: ColumnDecodable, First: ColumnEncodable, each Rest: ColumnEncodable>(
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Value? {
        let isOuter = try enter()
        defer { leave(isOuter) }
        try bind(first, repeat each rest)
        return try firstValue()
    }

    /// Runs it with these values for its parameters, and returns the first column of the first row; nil for NULL, and where there is no
    /// row.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few, and for a value of another kind.
    public func value<Value: ColumnDecodable>(values: StatementValues = []) throws -> Value? {
        let isOuter = try enter()
        defer { leave(isOuter) }
        try begin { try bind(values) }
        return try firstValue()
    }

    /// The first column of the first row, with the values that are bound.
    @inlinable func firstValue<Value: ColumnDecodable>() throws -> Value? {
        do {
            let value: Value? =
                try step()
                ? try Value?.decode(ResultColumn(statement: prepared, index: 0, execution: prepared.execution)) : nil
            try endEarly()
            return value
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends the execution where rows may be left.
    ///
    /// - Throws: ``DatabaseError`` of a commit, such as that of an INSERT … RETURNING.
    @usableFromInline func endEarly() throws {
        prepared.end()
        if prepared.connection.hasDeferredError { try database?.throwDeferredError(prepared.connection) }
    }
}
