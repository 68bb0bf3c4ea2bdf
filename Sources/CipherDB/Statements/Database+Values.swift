internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The first column of the first row of a query; nil for NULL, and where there is no row.
extension Database {
    /// The value, as the type that is asked for: `let id: UUID? = try database.value(forQuery: "SELECT …")`.
    ///
    /// - Throws: ``DatabaseError``, also for a value of another kind; ``KeyError``.
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Value? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// The value, as the type that is asked for, with values in any form.
    ///
    /// - Throws: ``DatabaseError``, also for a value of another kind; ``KeyError``.
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, values: StatementValues) throws -> Value? {
        guard sql.interpolated.isEmpty else {
            return try value(forQuery: sql.withoutValues, values: sql.values(beside: values))
        }
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let statement = try cached(sql.source)
        defer { giveBack(statement) }
        return try statement.value(values: values)
    }

    /// The value, as the type that is asked for, with values whose types the compiler knows: nothing is allocated for them. Throws as
    /// ``value(forQuery:values:)``.
    @inlinable public func value<Value: ColumnDecodable, First: ColumnEncodable, each Rest: ColumnEncodable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Value? {
        let stay = try enter()
        defer { leave(stay) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        return try statement.firstValue(statement.bind(first, repeat each rest))
    }

    /// The integer. Throws as ``value(forQuery:values:)``.
    public func int(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Int? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// Whether the number is not 0. Throws as ``value(forQuery:values:)``.
    public func bool(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Bool? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// The number. Throws as ``value(forQuery:values:)``.
    public func double(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Double? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// The text. Throws as ``value(forQuery:values:)``.
    public func string(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> String? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// The bytes. Throws as ``value(forQuery:values:)``.
    public func data(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Data? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// The date. Throws as ``value(forQuery:values:)``.
    public func date(forQuery sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Date? {
        try value(forQuery: sql, values: StatementValues(values))
    }
}

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
        try firstValue(bind(first, repeat each rest))
    }

    /// Runs it with these values for its parameters, and returns the first column of the first row; nil for NULL, and where there is no
    /// row.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few, and for a value of another kind.
    public func value<Value: ColumnDecodable>(values: StatementValues = []) throws -> Value? {
        let stay = try enter()
        defer { leave(stay) }
        try begin { try bind(values) }
        return try firstValue()
    }

    /// The first column of the first row, with the values that are bound; ends the call.
    @inlinable func firstValue<Value: ColumnDecodable>(_ stay: Turn.Stay = .inner) throws -> Value? {
        let value: Value?
        do {
            let column = ResultColumn(statement: prepared, index: 0, execution: prepared.execution)
            value = try step() ? Value?.decode(column) : nil
        } catch {
            abandon(stay)
            throw error
        }
        try endEarly(stay)
        return value
    }

    /// Ends the execution where rows may be left, and the call.
    ///
    /// - Throws: ``DatabaseError`` of a commit, such as that of an INSERT … RETURNING.
    @usableFromInline func endEarly(_ stay: Turn.Stay = .inner) throws {
        defer { prepared.leave(stay) }
        prepared.end()
        guard !prepared.isOfParent else { throw UsedAfterFork.database }
        if prepared.connection.hasDeferredError { try database?.throwDeferredError(prepared.connection) }
    }
}
