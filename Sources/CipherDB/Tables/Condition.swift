/// Which rows are meant. Columns are quoted and values bound, so that neither can become SQL.
///
/// ```swift
/// try database.delete(from: "notes", where: .equal("folder", id) && !.isNull("deleted"))
/// ```
public struct Condition {
    let sql: SQL

    /// Any SQL, with its values in it: `.sql("length(text) > \(100)")`.
    public static func sql(_ sql: SQL) -> Condition {
        Condition(sql: "(\(sql: sql))")
    }

    private static func compare(_ column: String, _ comparison: SQL, _ value: (any Bindable)?) -> Condition {
        Condition(sql: "\(identifier: column) \(sql: comparison) \(value)")
    }

    /// The column has this value; nil stands for NULL.
    public static func equal(_ column: String, _ value: (any Bindable)?) -> Condition {
        // `=` is never true of NULL.
        compare(column, "IS", value)
    }

    /// The column has another value, or NULL where the value is not nil.
    public static func notEqual(_ column: String, _ value: (any Bindable)?) -> Condition {
        compare(column, "IS NOT", value)
    }

    /// The column is less than the value; never where it is NULL.
    public static func less(_ column: String, than value: any Bindable) -> Condition { compare(column, "<", value) }

    /// The column is greater than the value; never where it is NULL.
    public static func greater(_ column: String, than value: any Bindable) -> Condition { compare(column, ">", value) }

    /// The column is the value or less; never where it is NULL.
    public static func atMost(_ column: String, _ value: any Bindable) -> Condition { compare(column, "<=", value) }

    /// The column is the value or greater; never where it is NULL.
    public static func atLeast(_ column: String, _ value: any Bindable) -> Condition { compare(column, ">=", value) }

    /// The column holds a text like the pattern: `%` stands for any characters, `_` for one (sqlite.org/lang_expr.html#like).
    public static func like(_ column: String, _ pattern: String) -> Condition { compare(column, "LIKE", pattern) }

    /// The column has one of the values: of an empty list none.
    public static func isIn(_ column: String, _ values: [any Bindable]) -> Condition {
        Condition(sql: "\(identifier: column) IN (\(list: values))")
    }

    /// The column is NULL.
    public static func isNull(_ column: String) -> Condition { equal(column, nil) }

    /// Both are true.
    public static func && (left: Condition, right: Condition) -> Condition {
        Condition(sql: "(\(sql: left.sql) AND \(sql: right.sql))")
    }

    /// One of them is true, or both.
    public static func || (left: Condition, right: Condition) -> Condition {
        Condition(sql: "(\(sql: left.sql) OR \(sql: right.sql))")
    }

    /// It is not true. What is neither, such as a comparison with NULL, stays so.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition(sql: "NOT (\(sql: condition.sql))")
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
