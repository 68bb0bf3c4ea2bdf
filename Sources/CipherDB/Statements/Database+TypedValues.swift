#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The first column of the first row of a query, with values whose types the compiler knows; see ``Statement/value(_:_:)``.
extension Database {
    /// The value, as the type that is asked for. Throws as ``value(forQuery:values:)``.
    @inlinable public func value<Value: ColumnDecodable, First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Value? {
        let isOuter = try enter()
        defer { leave(isOuter) }
        let statement = try cached(withoutValues: sql)
        defer { giveBack(statement) }
        try statement.bind(first, repeat each rest)
        return try statement.firstValue()
    }

    /// The integer. Throws as ``value(forQuery:values:)``.
    @inlinable public func int<First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Int? {
        try value(forQuery: sql, first, repeat each rest)
    }

    /// Whether the number is not 0. Throws as ``value(forQuery:values:)``.
    @inlinable public func bool<First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Bool? {
        try value(forQuery: sql, first, repeat each rest)
    }

    /// The number. Throws as ``value(forQuery:values:)``.
    @inlinable public func double<First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Double? {
        try value(forQuery: sql, first, repeat each rest)
    }

    /// The text. Throws as ``value(forQuery:values:)``.
    @inlinable public func string<First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> String? {
        try value(forQuery: sql, first, repeat each rest)
    }

    /// The bytes. Throws as ``value(forQuery:values:)``.
    @inlinable public func data<First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Data? {
        try value(forQuery: sql, first, repeat each rest)
    }

    /// The date. Throws as ``value(forQuery:values:)``.
    @inlinable public func date<First: Bindable, each Rest: Bindable>(
        forQuery sql: SQL,
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Date? {
        try value(forQuery: sql, first, repeat each rest)
    }
}
