/// A column in a ``Condition``, compared with values by Swift's operators.
///
/// ```swift
/// try database.delete(from: "notes", where: Column("list") == id && Column("deleted") != nil)
/// ```
public struct Column: Sendable {
    /// As it is in the table; it is quoted in SQL.
    public let name: String

    /// A column by name.
    public init(_ name: String) {
        self.name = name
    }

    /// The column has this value; nil stands for NULL.
    public static func == (column: Column, value: (any ColumnEncodable)?) -> Condition {
        // `=` is never true of NULL, and NULL is what SQLite makes of a NaN.
        value.isNaN ? .sql("0") : column.compared("IS", value)
    }

    /// The column has another value; NULL is one, unless the value is nil.
    public static func != (column: Column, value: (any ColumnEncodable)?) -> Condition {
        value.isNaN ? .sql("1") : column.compared("IS NOT", value)
    }

    /// The column is less than the value; never where one of them is NULL.
    public static func < (column: Column, value: any ColumnEncodable) -> Condition { column.compared("<", value) }

    /// The column is greater than the value; never where one of them is NULL.
    public static func > (column: Column, value: any ColumnEncodable) -> Condition { column.compared(">", value) }

    /// The column is the value or less; never where one of them is NULL.
    public static func <= (column: Column, value: any ColumnEncodable) -> Condition { column.compared("<=", value) }

    /// The column is the value or greater; never where one of them is NULL.
    public static func >= (column: Column, value: any ColumnEncodable) -> Condition { column.compared(">=", value) }

    /// The column is one of the two values, or between them; never where one of them is NULL.
    public func between(_ least: any ColumnEncodable, _ greatest: any ColumnEncodable) -> Condition {
        Condition { "\(raw: quoted(in: $0)) BETWEEN \(least) AND \(greatest)" }
    }

    /// The column holds a text like the pattern: `%` stands for any characters, `_` for one (sqlite.org/lang_expr.html#like).
    public func like(_ pattern: String) -> Condition { compared("LIKE", pattern) }

    /// The column has one of the values: of an empty list none, and NULL is in no list. An engine takes some hundreds or thousands of
    /// values (``Limit/parameters``).
    public func isIn(_ values: [any ColumnEncodable]) -> Condition {
        Condition { "\(raw: quoted(in: $0)) IN (\(list: values))" }
    }

    /// The column, or the table of an FTS5 index by its own name, has texts that match the pattern.
    public func matches(_ pattern: FTS5Pattern) -> Condition { compared("MATCH", pattern) }

    /// As it stands in SQL.
    private func quoted(in table: String?) -> String {
        table.map { "\($0).\(quotedIdentifier(name))" } ?? quotedColumn(name)
    }

    private func compared(_ comparison: SQL, _ value: (any ColumnEncodable)?) -> Condition {
        Condition { "\(raw: quoted(in: $0)) \(sql: comparison) \(value)" }
    }
}

/// Two columns of one table.
extension Column {
    /// Both columns have the same value; NULL is the same as NULL.
    public static func == (column: Column, other: Column) -> Condition { column.compared("IS", other) }

    /// The columns have different values; NULL is one.
    public static func != (column: Column, other: Column) -> Condition { column.compared("IS NOT", other) }

    /// The first is less; never where one of them is NULL.
    public static func < (column: Column, other: Column) -> Condition { column.compared("<", other) }

    /// The first is greater; never where one of them is NULL.
    public static func > (column: Column, other: Column) -> Condition { column.compared(">", other) }

    /// The first is less, or both are equal; never where one of them is NULL.
    public static func <= (column: Column, other: Column) -> Condition { column.compared("<=", other) }

    /// The first is greater, or both are equal; never where one of them is NULL.
    public static func >= (column: Column, other: Column) -> Condition { column.compared(">=", other) }

    private func compared(_ comparison: SQL, _ other: Column) -> Condition {
        Condition { "\(raw: quoted(in: $0)) \(sql: comparison) \(raw: other.quoted(in: $0))" }
    }
}

extension (any ColumnEncodable)? {
    /// Whether it is a number that equals none.
    fileprivate var isNaN: Bool {
        if case .real(let number)? = try? self?.databaseValue { number.isNaN } else { false }
    }
}
