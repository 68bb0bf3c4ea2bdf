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
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Value? {
        try value(forQuery: sql, values: StatementValues(values))
    }

    /// The value, as the type that is asked for: `let id: UUID? = try database.value(forQuery: "SELECT …")`.
    ///
    /// - Throws: ``DatabaseError``, also for a value of another kind; ``KeyError``.
    public func value<Value: ColumnDecodable>(forQuery sql: SQL, values: StatementValues) throws -> Value? {
        guard sql.interpolated.isEmpty else {
            return try value(forQuery: sql.withoutValues, values: sql.values(beside: values))
        }
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        let statement = try cached(sql.source)
        defer { giveBack(statement) }
        return try statement.value(values: values)
    }

    /// The integer. Throws as ``value(forQuery:values:)``.
    public func int(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Int? {
        try value(forQuery: sql, values: StatementValues(values))
    }
    /// The integer. Throws as ``value(forQuery:values:)``.
    public func int(forQuery sql: SQL, values: StatementValues) throws -> Int? {
        try value(forQuery: sql, values: values)
    }

    /// Whether the number is not 0. Throws as ``value(forQuery:values:)``.
    public func bool(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Bool? {
        try value(forQuery: sql, values: StatementValues(values))
    }
    /// Whether the number is not 0. Throws as ``value(forQuery:values:)``.
    public func bool(forQuery sql: SQL, values: StatementValues) throws -> Bool? {
        try value(forQuery: sql, values: values)
    }

    /// The number. Throws as ``value(forQuery:values:)``.
    public func double(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Double? {
        try value(forQuery: sql, values: StatementValues(values))
    }
    /// The number. Throws as ``value(forQuery:values:)``.
    public func double(forQuery sql: SQL, values: StatementValues) throws -> Double? {
        try value(forQuery: sql, values: values)
    }

    /// The text. Throws as ``value(forQuery:values:)``.
    public func string(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> String? {
        try value(forQuery: sql, values: StatementValues(values))
    }
    /// The text. Throws as ``value(forQuery:values:)``.
    public func string(forQuery sql: SQL, values: StatementValues) throws -> String? {
        try value(forQuery: sql, values: values)
    }

    /// The bytes. Throws as ``value(forQuery:values:)``.
    public func data(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Data? {
        try value(forQuery: sql, values: StatementValues(values))
    }
    /// The bytes. Throws as ``value(forQuery:values:)``.
    public func data(forQuery sql: SQL, values: StatementValues) throws -> Data? {
        try value(forQuery: sql, values: values)
    }

    /// The date. Throws as ``value(forQuery:values:)``.
    public func date(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Date? {
        try value(forQuery: sql, values: StatementValues(values))
    }
    /// The date. Throws as ``value(forQuery:values:)``.
    public func date(forQuery sql: SQL, values: StatementValues) throws -> Date? {
        try value(forQuery: sql, values: values)
    }
}
