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
    public static func && (left: Condition, right: Condition?) -> Condition { joined(left, right, by: "AND") }

    /// One of them is true, or both. Nil on the right is no condition.
    public static func || (left: Condition, right: Condition?) -> Condition { joined(left, right, by: "OR") }

    private static func joined(_ left: Condition, _ right: Condition?, by word: SQL) -> Condition {
        guard let right else { return left }
        return Condition { "(\(sql: left.sql($0)) \(sql: word) \(sql: right.sql($0)))" }
    }

    /// It is not true. What is neither, such as a comparison with NULL, stays so.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition { "NOT (\(sql: condition.sql($0)))" }
    }
}

/// Conditions of a search of which any may be missing. Where all are, the result is nil, which finds every row, and no `update` or `delete`
/// takes it.
extension Condition? {
    /// Both are true; nil is no condition.
    @_disfavoredOverload
    public static func && (left: Condition?, right: Condition?) -> Condition? { left.map { $0 && right } ?? right }

    /// One of them is true, or both; nil is no condition.
    @_disfavoredOverload
    public static func || (left: Condition?, right: Condition?) -> Condition? { left.map { $0 || right } ?? right }
}

/// A column by which rows are sorted.
public struct Ordering: Sendable {
    let column: String
    let keyword: String

    /// The least first, NULL before all.
    public static func ascending(_ column: String) -> Ordering { Ordering(column: column, keyword: "ASC") }
    /// The greatest first, NULL after all.
    public static func descending(_ column: String) -> Ordering { Ordering(column: column, keyword: "DESC") }
    /// The least first, NULL before all.
    public static func ascending(_ column: Column) -> Ordering { ascending(column.name) }
    /// The greatest first, NULL after all.
    public static func descending(_ column: Column) -> Ordering { descending(column.name) }
}

/// A column in a ``Condition``, compared with values by Swift's operators.
///
/// ```swift
/// try database.delete(from: "notes", where: Column("list") == id && Column("deleted") != nil)
/// ```
public struct Column: Sendable {
    /// As it is in the table; it is quoted in SQL.
    public let name: String
    private let table: TableName?

    /// A column by name.
    ///
    /// - Parameters:
    ///   - name: As it is in the table.
    ///   - table: In conditions and orders: the table in a join that has it, or its alias: `Column("id", of: "player")`. Unless set it is
    ///     the table that the call is about, and in SQL whichever has it.
    public init(_ name: String, of table: TableName? = nil) {
        self.name = name
        self.table = table
    }

    /// A column by a coding key of a record: `static let score = Column(CodingKeys.score)`.
    public init(_ key: some CodingKey) {
        self.init(key.stringValue)
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

    /// The column holds a text like the pattern: `%` stands for any characters, `_` for one (sqlite.org/lang_expr.html#like). Nothing is
    /// like nil.
    public func like(_ pattern: String?) -> Condition { compared("LIKE", pattern) }

    /// The column has one of the values, as by `==`: nil stands for NULL, and an empty list has none. An engine takes some hundreds or
    /// thousands of values (``Limit/parameters``).
    public func isIn(_ values: [any ColumnEncodable]) -> Condition {
        let values = values as [(any ColumnEncodable)?]
        let known = values.filter { !$0.isNull && !$0.isNaN }
        // `IN` alone is neither true nor false of NULL, so that its opposite would leave it out.
        let beside = values.contains { $0.isNull } ? "IS NULL OR" : "IS NOT NULL AND"
        return Condition {
            let column = quoted(in: $0)
            return "(\(raw: column) \(raw: beside) \(raw: column) IN (\(list: known)))"
        }
    }

    /// The column, or the table of an FTS5 index by its own name, has texts that match the pattern.
    public func matches(_ pattern: FTS5Pattern) -> Condition { compared("MATCH", pattern) }

    /// As it stands in SQL.
    private func quoted(in statement: String?) -> String {
        (table?.quoted ?? statement).map { "\($0).\(quotedIdentifier(name))" } ?? quotedColumn(name)
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
    fileprivate var isNull: Bool { self == nil || (try? self?.databaseValue) == .null }

    /// Whether it is a number that equals none.
    fileprivate var isNaN: Bool {
        if case .real(let number)? = try? self?.databaseValue { number.isNaN } else { false }
    }
}
