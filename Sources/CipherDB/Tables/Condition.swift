/// A condition on rows: comparisons of a ``Column`` with values, or SQL. Columns are quoted and values bound, so that neither can
/// become SQL.
///
/// ```swift
/// try database.delete(from: "notes", where: Column("due") < Date() && Column("text") != "keep")
/// try database.delete(from: "notes", where: "length(text) > \(limit)")
/// ```
///
/// A literal is SQL as ``SQL`` is, with its values bound; a `String` does not compile.
public struct Condition: Sendable, ExpressibleByStringInterpolation {
    // SQLite takes a quoted name that no column has for a text, `"titel" IS NOT NULL` for true of every row. With its table before it, it
    // is an error, and so it is between backticks.
    /// The SQL, for a table as it stands in SQL; nil where the statement is not known.
    let sql: @Sendable (_ table: String?) -> SQL

    /// As it stands behind a statement about the table.
    func clause(for table: TableName) -> SQL {
        " WHERE \(sql: sql(quotedIdentifier(table.name)))"
    }

    init(sql: @escaping @Sendable (_ table: String?) -> SQL) {
        self.sql = sql
    }

    /// SQL from a literal, which nothing but the program's source can be.
    public init(stringLiteral value: StaticString) {
        self = .sql(SQL(stringLiteral: value))
    }

    /// SQL from a literal with values in it.
    public init(stringInterpolation: SQL.StringInterpolation) {
        self = .sql(SQL(stringInterpolation: stringInterpolation))
    }

    /// SQL that is in a variable; a literal is a condition without it.
    public static func sql(_ sql: SQL) -> Condition {
        Condition { _ in "(\(sql: sql))" }
    }

    /// Both are true. Nil on the right is no condition: `Column("list") == id && text.map { Column("text").like($0) }`.
    public static func && (left: Condition, right: Condition?) -> Condition {
        guard let right else { return left }
        return Condition { "(\(sql: left.sql($0)) AND \(sql: right.sql($0)))" }
    }

    /// One of them is true, or both.
    public static func || (left: Condition, right: Condition) -> Condition {
        Condition { "(\(sql: left.sql($0)) OR \(sql: right.sql($0)))" }
    }

    /// It is not true. What is neither, such as a comparison with NULL, stays so.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition { "NOT (\(sql: condition.sql($0)))" }
    }
}

/// A column by which rows are sorted.
public struct Ordering: Sendable {
    let column: String
    let keyword: String

    /// The least first, NULL before all.
    public static func ascending(_ column: String) -> Ordering { Ordering(column: column, keyword: "ASC") }
    /// The greatest first, NULL after all.
    public static func descending(_ column: String) -> Ordering { Ordering(column: column, keyword: "DESC") }
}
