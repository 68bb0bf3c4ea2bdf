/// A type that can be made from a row.
///
/// A `Decodable` type needs nothing but the name of this protocol: its coding keys are then the names of the columns.
///
/// ```swift
/// struct Note: Codable, RowDecodable {
///     var id: Int64
///     var text: String
///     var due: Date?
/// }
/// let notes = try database.fetchAll(Note.self, "SELECT * FROM notes WHERE due < ?", Date())
/// ```
///
/// An initialiser written by hand, `id = try row[0]`, is a few times faster. What is read from a column of its own, such as
/// `Int` or `UUID`, is made from the first column of a row.
public protocol RowDecodable {
    /// The value in the current row of `row`; does not go to another row.
    ///
    /// - Throws: where the row does not hold such a value; what reading a column throws is good.
    init(row: ResultSet) throws
}

extension RowDecodable where Self: Decodable {
    /// The value whose coding keys are the names of the row's columns.
    ///
    /// - Throws: ``DatabaseError`` that names the column, the type wanted and the kind of value found.
    @inlinable public init(row: ResultSet) throws {
        self = try row.decode(Self.self)
    }
}

extension RowDecodable where Self: ColumnDecodable {
    /// The value in the row's first column.
    @inlinable public init(row: ResultSet) throws {
        self = try row[0]
    }
}

extension RowDecodable where Self: ColumnDecodable & Decodable {
    /// The value in the row's first column.
    @inlinable public init(row: ResultSet) throws {
        self = try row[0]
    }
}

extension ResultSet {
    /// The current row as a type whose coding keys are the names of its columns: also one that is not ``RowDecodable``.
    ///
    /// Keys without a column are nil in optionals. Of enumerations the raw value is stored; a structure or an array inside is
    /// read from a ``JSONColumn``.
    ///
    /// - Throws: ``DatabaseError`` that names the column, the type wanted and the kind of value found.
    @inlinable public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        let stay = try enter()
        defer { leave(stay) }
        guard rowWidth > 0 else { throw whyNoColumn(0) }
        do {
            return try Value(from: decoder)
        } catch let error as DecodingError {
            throw DatabaseError.notDecoded(error, as: type, sql: sql)
        }
    }

    @usableFromInline var sql: String { statement.sql }

    /// Goes to the next row and makes a value of it; nil after the last. So rows are read one at a time.
    ///
    /// - Throws: ``DatabaseError``, which names the row, counted from 1, where it is not of this type; ``KeyError``.
    @inlinable public func next<Value: RowDecodable>(as type: Value.Type) throws -> Value? {
        let stay = try enter()
        defer { leave(stay) }
        guard try next() else { return nil }
        do {
            return try Value(row: self)
        } catch {
            throw namingRow(error, as: type)
        }
    }

    @usableFromInline func namingRow(_ error: any Error, as type: Any.Type) -> any Error {
        guard let error = error as? DatabaseError, error.code == .mismatch || error.code == .range else { return error }
        return DatabaseError(error.code, "row \(rowNumber), as \(type): \(error.message)", sql: error.sql)
    }

    /// The next row, and closes; nil where there is none, and for NULL as a value that cannot be NULL, such as a sum of no rows.
    ///
    /// - Throws: as ``next(as:)``.
    @inlinable public func fetchOne<Value: RowDecodable>(_ type: Value.Type = Value.self) throws -> Value? {
        let stay = try enter()
        defer { leave(stay) }
        defer { close() }
        do {
            return try next(as: type)
        } catch {
            guard isNull(type, error) else { throw error }
            return nil
        }
    }

    /// Whether a value was not made because NULL stands in its column.
    @usableFromInline func isNull(_ type: Any.Type, _ error: any Error) -> Bool {
        type is any ColumnDecodable.Type && (error as? DatabaseError)?.code == .mismatch
            && (try? columnIndexIsNull(0)) == true
    }

    /// The rows that are left, and closes.
    ///
    /// - Throws: as ``next(as:)``.
    @inlinable public func fetchAll<Value: RowDecodable>(_ type: Value.Type = Value.self) throws -> [Value] {
        let stay = try enter()
        defer { leave(stay) }
        defer { close() }
        var values: [Value] = []
        while let value = try next(as: type) { values.append(value) }
        return values
    }
}

extension Database {
    /// All rows of a query, with these values for its parameters, in order.
    ///
    /// - Throws: ``DatabaseError``, also for a row that is not of this type; ``KeyError``.
    @inlinable public func fetchAll<Value: RowDecodable>(
        _ type: Value.Type,
        _ sql: SQL,
        _ values: (any ColumnEncodable)?...
    ) throws -> [Value] {
        try fetchAll(type, sql, values: StatementValues(values))
    }

    /// All rows of a query, with these values for its parameters.
    ///
    /// - Throws: ``DatabaseError``, also for a row that is not of this type; ``KeyError``.
    @inlinable public func fetchAll<Value: RowDecodable>(
        _ type: Value.Type,
        _ sql: SQL,
        values: StatementValues
    ) throws -> [Value] {
        let stay = try enter()
        defer { leave(stay) }
        return try executeQuery(sql, values: values).fetchAll(type)
    }

    /// The first row of a query, with these values for its parameters, in order; nil where there is none, and for NULL as a value that
    /// cannot be NULL, such as a sum of no rows.
    ///
    /// - Throws: ``DatabaseError``, also for a row that is not of this type; ``KeyError``.
    @inlinable public func fetchOne<Value: RowDecodable>(
        _ type: Value.Type,
        _ sql: SQL,
        _ values: (any ColumnEncodable)?...
    ) throws -> Value? {
        try fetchOne(type, sql, values: StatementValues(values))
    }

    /// The first row of a query, with these values for its parameters; nil as there.
    ///
    /// - Throws: ``DatabaseError``, also for a row that is not of this type; ``KeyError``.
    @inlinable public func fetchOne<Value: RowDecodable>(
        _ type: Value.Type,
        _ sql: SQL,
        values: StatementValues
    ) throws -> Value? {
        let stay = try enter()
        defer { leave(stay) }
        let rows = try executeQuery(sql, values: values)
        defer { rows.close() }
        let value = try rows.fetchOne(type)
        try throwDeferredError()
        return value
    }
}

extension DatabaseError {
    @usableFromInline static func notDecoded(_ error: DecodingError, as type: Any.Type, sql: String) -> DatabaseError {
        DatabaseError(.mismatch, "the row is not \(type): \(error.reason)", sql: sql)
    }

    static func noColumn(_ name: String, sql: String) -> DatabaseError {
        DatabaseError(.range, "the result has no column with the name \(name)", sql: sql)
    }
}

extension DecodingError {
    /// What is wrong, without the value, which Swift's own descriptions quote.
    var reason: String {
        // On a path there may be keys of a dictionary, which are values.
        func path(_ context: Context) -> String { context.codingPath.isEmpty ? "it" : "something in it" }
        return switch self {
        case .typeMismatch(let type, let context): "\(path(context)) is not \(type)"
        case .valueNotFound(let type, let context): "\(path(context)) has no \(type)"
        case .keyNotFound(let key, _): "there is no \(key.stringValue)"
        case .dataCorrupted(let context): "\(path(context)) has a value that cannot be"
        @unknown default: "it cannot be decoded"
        }
    }
}
