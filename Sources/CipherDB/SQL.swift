/// SQL that is written with its values in place: `"SELECT id FROM notes WHERE text = \(text)"`.
///
/// An interpolated value becomes a parameter and is bound; it never becomes part of the SQL, so no value can change what
/// the statement does. What must be part of the SQL says so: `\(identifier: name)` for the name of a table or column, and
/// `\(sql: other)` for a piece of SQL with values of its own.
public struct SQL: ExpressibleByStringInterpolation {
    /// The SQL, with a `?` in the place of each value.
    public private(set) var text: String
    /// The values, in order.
    public private(set) var values: [(any Bindable)?]

    /// SQL from a literal.
    public init(stringLiteral value: String) {
        text = value
        values = []
    }

    /// SQL from a literal with values in it.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    mutating func append(_ other: SQL) {
        text += other.text
        values += other.values
    }

    /// What collects the pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var sql = SQL(stringLiteral: "")

        /// Makes room.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.text.reserveCapacity(literalCapacity + interpolationCount)
            sql.values.reserveCapacity(interpolationCount)
        }

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: String) {
            sql.text += literal
        }

        /// Adds a value, to be bound.
        public mutating func appendInterpolation(_ value: (any Bindable)?) {
            sql.text += "?"
            sql.values.append(value)
        }

        /// Adds a list of values, separated by commas: `IN (\(list: ids))`.
        public mutating func appendInterpolation(list values: [(any Bindable)?]) {
            sql.text += values.map { _ in "?" }.joined(separator: ", ")
            sql.values += values
        }

        /// Adds the name of a table, column or other object, quoted.
        public mutating func appendInterpolation(identifier name: String) {
            sql.text += quotedIdentifier(name)
        }

        /// Adds SQL with its values.
        public mutating func appendInterpolation(sql other: SQL) {
            sql.append(other)
        }

        /// Adds SQL that is quoted as it must be.
        mutating func appendInterpolation(raw text: String) {
            sql.text += text
        }
    }
}

extension Database {
    /// Runs a statement whose values stand in it: `executeUpdate(withFormat: "INSERT INTO notes VALUES (\(text))")`.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func executeUpdate(withFormat sql: SQL) throws {
        try executeUpdate(sql.text, values: sql.values)
    }

    /// Starts a query whose values stand in it: `executeQuery(withFormat: "… WHERE name = \(name)")`.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func executeQuery(withFormat sql: SQL) throws -> ResultSet {
        try executeQuery(sql.text, values: sql.values)
    }
}

/// A name as an SQL identifier.
func quotedIdentifier(_ name: String) -> String {
    quoted(name, by: "\"")
}

/// A text between quotes, those in it doubled.
func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
    // By scalars, as SQLite reads: a quote with an accent on it is one character to Swift, and no quote.
    var quoted = String.UnicodeScalarView([quote])
    for scalar in text.unicodeScalars {
        if scalar == quote { quoted.append(scalar) }
        quoted.append(scalar)
    }
    quoted.append(quote)
    return String(quoted)
}
