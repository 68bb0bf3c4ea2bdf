/// Which rows are meant. Columns are quoted and values bound, so that neither can become SQL.
///
/// ```swift
/// try database.delete(from: "notes", where: .equal("folder", id) && !.isNull("deleted"))
/// ```
public struct Condition: Sendable {
    // SQLite takes a quoted name that no column has for a text, `"titel" IS NOT NULL` for true of every row. With its table before it, it
    // is an error.
    /// The SQL, for a table as it stands in SQL.
    let sql: @Sendable (_ table: String) -> SQL

    /// As it stands behind a statement about the table.
    func clause(for table: TableName) -> SQL {
        " WHERE \(sql: sql(quotedIdentifier(table.name)))"
    }

    /// Any SQL, with its values in it: `.sql("length(text) > \(100)")`.
    public static func sql(_ sql: SQL) -> Condition {
        Condition { _ in "(\(sql: sql))" }
    }

    private static func compare(_ column: String, _ comparison: SQL, _ value: (any Bindable)?) -> Condition {
        Condition { "\(raw: $0).\(identifier: column) \(sql: comparison) \(value)" }
    }

    /// The column has this value; nil stands for NULL.
    public static func equal(_ column: String, _ value: (any Bindable)?) -> Condition {
        // `=` is never true of NULL.
        compare(column, "IS", value)
    }

    /// The column has another value; NULL is one, unless the value is nil.
    public static func notEqual(_ column: String, _ value: (any Bindable)?) -> Condition {
        compare(column, "IS NOT", value)
    }

    /// The column is less than the value; never where one of them is NULL.
    public static func less(_ column: String, than value: any Bindable) -> Condition { compare(column, "<", value) }

    /// The column is greater than the value; never where one of them is NULL.
    public static func greater(_ column: String, than value: any Bindable) -> Condition { compare(column, ">", value) }

    /// The column is the value or less; never where one of them is NULL.
    public static func lessOrEqual(_ column: String, to value: any Bindable) -> Condition {
        compare(column, "<=", value)
    }

    /// The column is the value or greater; never where one of them is NULL.
    public static func greaterOrEqual(_ column: String, to value: any Bindable) -> Condition {
        compare(column, ">=", value)
    }

    /// The column is one of the two values, or between them; never where one of them is NULL.
    public static func between(
        _ column: String,
        _ least: any Bindable,
        and greatest: any Bindable
    ) -> Condition {
        Condition { "\(raw: $0).\(identifier: column) BETWEEN \(least) AND \(greatest)" }
    }

    /// The column holds a text like the pattern: `%` stands for any characters, `_` for one (sqlite.org/lang_expr.html#like).
    public static func like(_ column: String, _ pattern: String) -> Condition { compare(column, "LIKE", pattern) }

    /// The column has one of the values: of an empty list none, and NULL is in no list. An engine takes some hundreds or thousands of
    /// values (``Limit/parameters``).
    public static func isIn(_ column: String, _ values: [any Bindable]) -> Condition {
        Condition { "\(raw: $0).\(identifier: column) IN (\(list: values))" }
    }

    /// The column is NULL.
    public static func isNull(_ column: String) -> Condition { equal(column, nil) }

    /// Both are true.
    public static func && (left: Condition, right: Condition) -> Condition {
        Condition { "(\(sql: left.sql($0)) AND \(sql: right.sql($0)))" }
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

/// A column that rows are put in order by.
public struct Ordering: Sendable {
    let column: String
    let keyword: String

    /// The least first, NULL before all.
    public static func ascending(_ column: String) -> Ordering { Ordering(column: column, keyword: "ASC") }
    /// The greatest first, NULL after all.
    public static func descending(_ column: String) -> Ordering { Ordering(column: column, keyword: "DESC") }
}
