internal import CipherKeys

/// SQL with its values, made by a literal; every call of CipherDB takes it.
///
/// ```swift
/// try database.executeUpdate("INSERT INTO notes (text) VALUES (\(text))")
/// ```
///
/// An interpolated value becomes a parameter and is bound; it never becomes part of the SQL, so no value can change what
/// the statement does. What must be part of the SQL says so: `\(identifier: name)` for the name of a table or column,
/// `\(list: values)` for the values of `IN (…)`, and `\(sql: other)` for a piece of SQL with values of its own. A ``Condition`` is one too:
/// `WHERE \(condition)`.
///
/// A `String` is a value, and throws where it would be the same for each row: in a term of WHERE, ON, HAVING, GROUP BY or ORDER BY, or a
/// result column, that names no column, as `WHERE \(name) = 7` and `ORDER BY \(name)`. Where that is meant, bind it by position, with `?`.
///
/// A `String` is no SQL. Text from elsewhere, such as a schema in a file, becomes SQL by ``init(unsafe:)`` only.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// An interpolated value.
    struct Interpolated: Sendable {
        /// Where its `?` stands in the text, in bytes of UTF-8.
        var offset: Int
        let value: (any ColumnEncodable)?
        /// Whether it stands there as a `String`, which could be meant for a name.
        var isString = false
    }

    /// The SQL, with a `?` in the place of each interpolated value.
    private(set) var source: SQLText
    /// The interpolated values, in order.
    private(set) var interpolated: [Interpolated] = []

    /// SQL from a literal, which nothing but the program's source can be.
    public init(stringLiteral value: StaticString) {
        source = SQLText(value)
    }

    /// SQL from a literal with values in it.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    /// SQL from text that is not a literal, as it is. Never make it from what a user typed: text that becomes SQL can do
    /// whatever the connection may do.
    public init(unsafe text: String) {
        source = .string(text)
    }

    /// ``source`` as a `String`.
    private(set) package var text: String {
        get { source.string }
        set { source = .string(newValue) }
    }

    /// SQL behind SQL, with the values of both.
    public static func + (left: SQL, right: SQL) -> SQL {
        var sql = left
        sql.append(right)
        return sql
    }

    /// Adds SQL with its values, as ``append(_:)``.
    public static func += (left: inout SQL, right: SQL) {
        left.append(right)
    }

    /// Adds SQL with its values.
    public mutating func append(_ other: SQL) {
        let start = text.utf8.count
        text += other.text
        interpolated += other.interpolated.map {
            Interpolated(offset: start + $0.offset, value: $0.value, isString: $0.isString)
        }
    }

    /// The same text, for values beside it.
    var withoutValues: SQL {
        var sql = self
        sql.interpolated = []
        return sql
    }

    /// The values of its parameters: the interpolated ones, or those that stand beside it.
    ///
    /// - Throws: ``DatabaseError`` where there are both.
    func values(beside others: StatementValues) throws -> StatementValues {
        if interpolated.isEmpty { return others }
        guard others.isEmpty else {
            throw DatabaseError(
                .misuse,
                "the SQL has interpolated values, and other values are passed beside it; use one of the two",
                sql: text
            )
        }
        return StatementValues(.interpolated(interpolated))
    }

    /// The SQL with the interpolated values as literals, for where no parameter may stand.
    ///
    /// - Throws: as ``DatabaseValue/literal``; what a value throws; ``DatabaseError`` for a `String` in a constant term.
    func literal(in storage: ValueStorage) throws -> String {
        if interpolated.contains(where: \.isString) {
            try interpolated.checkStrings(in: ConstantTerms.parameters(of: text), of: text)
        }
        var result = ""
        var rest = text.utf8[...]
        var start = 0
        for value in interpolated {
            let end = rest.index(rest.startIndex, offsetBy: value.offset - start)
            result += String(rest[..<end]) ?? ""
            result += try (value.value?.databaseValue(in: storage) ?? .null).literal
            rest = rest[rest.index(after: end)...]
            start = value.offset + 1
        }
        return result + (String(rest) ?? "")
    }
}

extension SQL {
    /// The pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var sql = SQL(unsafe: "")

        /// Makes room.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.text.reserveCapacity(literalCapacity + interpolationCount)
            sql.interpolated.reserveCapacity(interpolationCount)
        }

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: StaticString) {
            sql.text += literal.description
        }

        /// Adds a value, to be bound.
        public mutating func appendInterpolation(_ value: (any ColumnEncodable)?) {
            append(value, isString: false)
        }

        /// Adds a text, to be bound; never a name, which is `\(identifier: name)`.
        public mutating func appendInterpolation(_ text: String) {
            append(text, isString: true)
        }

        private mutating func append(_ value: (any ColumnEncodable)?, isString: Bool) {
            sql.interpolated.append(
                Interpolated(offset: sql.text.utf8.count, value: value, isString: isString)
            )
            sql.text += "?"
        }

        /// Adds a list of values, separated by commas: `IN (\(list: ids))`.
        public mutating func appendInterpolation(list values: some Sequence<some ColumnEncodable>) {
            appendInterpolation(list: values.map { $0 as (any ColumnEncodable)? })
        }

        /// Adds a list of values of several types, separated by commas.
        public mutating func appendInterpolation(list values: [(any ColumnEncodable)?]) {
            for (index, value) in values.enumerated() {
                if index > 0 { sql.text += ", " }
                appendInterpolation(value)
            }
        }

        /// Adds the name of a table, column or other object, quoted; a name that there is not is an error.
        public mutating func appendInterpolation(identifier name: String) {
            sql.text += quotedColumn(name)
        }

        /// Adds the name of a table, with its database if it has one, quoted.
        public mutating func appendInterpolation(identifier table: TableName) {
            sql.text += table.quoted
        }

        /// Adds a column that begins a record inside of the row: the columns behind it have its coding key and a dot before their names,
        /// until the next one; `""` ends it. So one query has the records of several tables:
        ///
        /// ```swift
        /// struct Membership: Decodable, RowDecodable {
        ///     var name: String
        ///     var team: Team?
        /// }
        /// let sql: SQL = "SELECT player.*, \(record: "team"), team.* FROM player LEFT JOIN team USING (team_id)"
        /// ```
        ///
        /// A record all of whose columns are NULL, as of a row that an outer join did not find, is nil. It stands in the outermost SELECT:
        /// a subquery gives columns of one name other names.
        public mutating func appendInterpolation(record key: String) {
            sql.text += "NULL AS " + quotedIdentifier(key + ColumnNames.recordMark)
        }

        /// Adds SQL with its values.
        public mutating func appendInterpolation(sql other: SQL) {
            sql.append(other)
        }

        /// Adds a condition in parentheses, with its values: `WHERE \(condition)`. Its columns are those of the statement's tables.
        @_disfavoredOverload
        public mutating func appendInterpolation(_ condition: Condition) {
            appendInterpolation(sql: "(\(sql: condition.sql(nil)))")
        }

        /// Adds text that is SQL already.
        package mutating func appendInterpolation(raw text: String) {
            sql.text += text
        }
    }
}

extension [SQL.Interpolated] {
    /// - Throws: ``DatabaseError`` where one of the parameters `places`, of constant terms, is a `String`.
    func checkStrings(in places: [Int], of sql: String) throws(DatabaseError) {
        guard places.contains(where: { indices.contains($0) && self[$0].isString }) else { return }
        throw DatabaseError(
            .misuse,
            #"a String is a value, and its term in the SQL names no column, so that it is the same for each row; write \(identifier: name) "#
                + "for the name of a column, or ? with the value beside the SQL where that is meant",
            sql: sql
        )
    }
}

/// The text of a piece of SQL. A literal stays where the program has it, because making a `String` of it takes longer than running a
/// short statement.
enum SQLText: Sendable {
    case literal(StaticString)
    case string(String)

    init(_ literal: StaticString) {
        // A literal of one character may be kept as a number.
        self = literal.hasPointerRepresentation ? .literal(literal) : .string(literal.description)
    }

    var string: String {
        switch self {
        case .literal(let text): text.description
        case .string(let text): text
        }
    }

    /// Hands over its bytes.
    func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        switch self {
        case .literal(let text): body(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        case .string(let text): text.withBytes(body)
        }
    }
}

/// A name as an SQL identifier.
package func quotedIdentifier(_ name: String) -> String {
    quoted(name, by: "\"")
}

/// A name that can only be a column's: SQLite takes what stands between double quotes for a text where there is no such column.
func quotedColumn(_ name: String) -> String {
    quoted(name, by: "`")
}

/// A text between quotes, those in it doubled.
private func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
    // By scalars, as SQLite reads: a quote with an accent on it is one character to Swift, and no quote.
    var quoted = String.UnicodeScalarView([quote])
    for scalar in text.unicodeScalars {
        if scalar == quote { quoted.append(scalar) }
        quoted.append(scalar)
    }
    quoted.append(quote)
    return String(quoted)
}

extension DatabaseValue {
    /// The value as SQL, for where no parameter may stand.
    ///
    /// - Throws: ``DatabaseError`` for a text with a NUL character.
    var literal: String {
        get throws {
            switch self {
            case .null: return "NULL"
            case .integer(let value): return "(\(value))"
            case .real(let value):
                if value.isNaN { return "NULL" }
                return value.isFinite ? "(\(value))" : value < 0 ? "(-9e999)" : "9e999"
            case .text(let value):
                guard !value.hasByte(0) else {
                    throw DatabaseError(.mismatch, "the text has a NUL character, which SQL cannot have")
                }
                return quoted(value, by: "'")
            case .blob(let value): return "x'\(value.hexadecimal)'"
            }
        }
    }
}
