/// A column of a new table.
public struct ColumnDefinition: Sendable {
    let name: String
    let type: ColumnType
    let constraints: [ColumnConstraint]

    /// A column by name, with what its values must be.
    public init(_ name: String, _ type: ColumnType, _ constraints: ColumnConstraint...) {
        self.name = name
        self.type = type
        self.constraints = constraints
    }

    var sql: String {
        ([quotedIdentifier(name), type.rawValue] + constraints.map(\.sql)).joined(separator: " ")
    }
}

/// The type affinity of a column (sqlite.org/datatype3.html#type_affinity).
public enum ColumnType: String, Sendable {
    /// Integers; also a `Bool`.
    case integer = "INTEGER"
    /// Floating-point numbers; also a `Date` in seconds (``DateFormat``).
    case real = "REAL"
    /// Texts; also a `Date`, unless a ``DateFormat`` is set, a `UUID` and a ``JSONColumn``.
    case text = "TEXT"
    /// Bytes; values stay as they are.
    case blob = "BLOB"
    /// Numbers, as integers where they are; also a `Decimal` that SQL compares, to 15 digits.
    case numeric = "NUMERIC"
}

/// A constraint of a column.
public struct ColumnConstraint: Sendable {
    let sql: String

    /// Its values tell the rows apart; of the type integer it is the row's identifier.
    public static let primaryKey = ColumnConstraint(sql: "PRIMARY KEY")
    /// As ``primaryKey``, and the identifier of a deleted row is never given again.
    public static let autoincrementingPrimaryKey = ColumnConstraint(sql: "PRIMARY KEY AUTOINCREMENT")
    /// It is never NULL.
    public static let notNull = ColumnConstraint(sql: "NOT NULL")
    /// No two rows have the same value; several may have NULL.
    public static let unique = ColumnConstraint(sql: "UNIQUE")

    /// The value of rows that are inserted without one.
    ///
    /// - Throws: ``DatabaseError`` for a text with a NUL character, which no SQL can have; what the value throws.
    public static func `default`(_ value: any ColumnEncodable) throws -> ColumnConstraint {
        ColumnConstraint(sql: "DEFAULT \(try value.databaseValue.literal)")
    }

    /// What SQL computes for rows that are inserted without a value, such as `CURRENT_TIMESTAMP`.
    ///
    /// - Throws: as ``default(_:)`` for a value in it.
    public static func `default`(sql: SQL) throws -> ColumnConstraint {
        ColumnConstraint(sql: "DEFAULT (\(try sql.literal))")
    }

    /// SQL that is true of every row, such as `amount >= 0`.
    ///
    /// - Throws: as ``default(_:)`` for a value in it.
    public static func check(_ sql: SQL) throws -> ColumnConstraint {
        ColumnConstraint(sql: "CHECK (\(try sql.literal))")
    }

    /// How texts are compared: `NOCASE`, `RTRIM`, or a collation of the program's.
    public static func collate(_ name: String) -> ColumnConstraint {
        ColumnConstraint(sql: "COLLATE \(quotedIdentifier(name))")
    }

    /// Its values are those of a column of another table.
    ///
    /// - Parameters:
    ///   - table: The other table.
    ///   - column: A column there that is unique; nil for the primary key.
    ///   - onDelete: What happens to the row when the row there is deleted. By default the deletion fails.
    public static func references(
        _ table: String,
        column: String? = nil,
        onDelete: ForeignKeyAction = .noAction
    ) -> ColumnConstraint {
        let target = quotedIdentifier(table) + (column.map { " (\(quotedIdentifier($0)))" } ?? "")
        return ColumnConstraint(sql: "REFERENCES \(target) ON DELETE \(onDelete.rawValue)")
    }
}

/// The action on rows when the row that they refer to is deleted.
public enum ForeignKeyAction: String, Sendable {
    /// The deletion fails, unless the rows are gone by the end of the statement.
    case noAction = "NO ACTION"
    /// The deletion fails at once.
    case restrict = "RESTRICT"
    /// They are deleted as well.
    case cascade = "CASCADE"
    /// Their column becomes NULL.
    case setNull = "SET NULL"
    /// Their column gets its default.
    case setDefault = "SET DEFAULT"
}

/// A constraint of several columns of a table.
public struct TableConstraint: Sendable {
    let sql: String

    /// Their values together tell the rows apart.
    public static func primaryKey(_ columns: String...) -> TableConstraint {
        TableConstraint(sql: "PRIMARY KEY (\(columns.map(quotedIdentifier).joined(separator: ", ")))")
    }

    /// No two rows have the same values.
    public static func unique(_ columns: String...) -> TableConstraint {
        TableConstraint(sql: "UNIQUE (\(columns.map(quotedIdentifier).joined(separator: ", ")))")
    }

    /// SQL that is true of every row.
    ///
    /// - Throws: ``DatabaseError`` for a text with a NUL character, which no SQL can have; what a value in it throws.
    public static func check(_ sql: SQL) throws -> TableConstraint {
        TableConstraint(sql: "CHECK (\(try sql.literal))")
    }
}
