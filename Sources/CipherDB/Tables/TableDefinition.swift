/// Tables, indexes and columns that are made and removed by typed calls.
extension Database {
    /// Makes a table.
    ///
    /// ```swift
    /// try database.createTable(
    ///     "notes",
    ///     columns: [
    ///         ColumnDefinition("id", .integer, .primaryKey),
    ///         ColumnDefinition("text", .text, .notNull),
    ///         ColumnDefinition("list", .integer, .references("lists", onDelete: .cascade)),
    ///     ]
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - columns: Its columns, in order.
    ///   - constraints: What must be true of several of them.
    ///   - ifNotExists: Nothing is done where there is a table of this name, whatever its columns are.
    ///   - withoutRowID: The rows are kept in the order of the primary key, which such a table must have.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func createTable(
        _ table: TableName,
        columns: [ColumnDefinition],
        constraints: [TableConstraint] = [],
        ifNotExists: Bool = false,
        withoutRowID: Bool = false
    ) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let parts = try columns.map { try $0.sql(storage) } + constraints.map { try $0.sql(storage) }
        let name = (ifNotExists ? "IF NOT EXISTS " : "") + table.quoted
        let options = withoutRowID ? " WITHOUT ROWID" : ""
        try executeUpdate("CREATE TABLE \(raw: name) (\(raw: parts.joined(separator: ", ")))\(raw: options)")
    }

    /// Removes a table with its rows and indexes.
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - ifExists: It is no error where there is none.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func dropTable(_ table: TableName, ifExists: Bool = false) throws {
        try executeUpdate("DROP TABLE \(raw: ifExists ? "IF EXISTS " : "")\(raw: table.quoted)")
    }

    /// Makes an index. Its entries are sorted in memory, all at once: 1 GB for an index of 1 GB.
    ///
    /// ```swift
    /// try database.createIndex("notes_by_due", on: "notes", columns: ["due", "id"])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; it stands in the database of the table.
    ///   - table: The table.
    ///   - columns: The columns by which rows are found, in order.
    ///   - unique: Whether no two rows have the same values in them; several may have NULL.
    ///   - condition: The rows that are in it; nil for all. Its values become literals.
    ///   - ifNotExists: Nothing is done where there is an index of this name, whatever its columns are.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func createIndex(
        _ name: String,
        on table: TableName,
        columns: [String],
        unique: Bool = false,
        where condition: Condition? = nil,
        ifNotExists: Bool = false
    ) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let kind = (unique ? "UNIQUE INDEX " : "INDEX ") + (ifNotExists ? "IF NOT EXISTS " : "")
        let schema = table.schema.map { quotedIdentifier($0) + "." } ?? ""
        let list = columns.map(quotedColumn).joined(separator: ", ")
        var sql: SQL =
            "CREATE \(raw: kind)\(raw: schema)\(identifier: name) ON \(identifier: table.name) (\(raw: list))"
        if let condition { sql.append("\(raw: try condition.clause(for: table).literal(in: storage))") }
        try executeUpdate(sql)
    }

    /// Removes an index.
    ///
    /// - Throws: ``DatabaseError``, also where there is none, unless `ifExists`; ``KeyError``.
    public func dropIndex(_ name: String, ifExists: Bool = false) throws {
        try executeUpdate("DROP INDEX \(raw: ifExists ? "IF EXISTS " : "")\(identifier: name)")
    }

    /// Adds a column to a table, behind those that it has; rows that are there get its default, or NULL.
    ///
    /// - Throws: ``DatabaseError``, also for a column that SQLite cannot add: a primary key, one that is unique, or one that is
    ///   not NULL without a default (sqlite.org/lang_altertable.html); ``KeyError``.
    public func addColumn(_ column: ColumnDefinition, to table: TableName) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        try executeUpdate("ALTER TABLE \(raw: table.quoted) ADD COLUMN \(raw: column.sql(storage))")
    }

    /// Gives a table another name, in its database, also in the indexes, triggers, views and foreign keys that name it
    /// (sqlite.org/lang_altertable.html).
    ///
    /// - Throws: ``DatabaseError``, also where a full-text index reads the table, and with an engine that leaves the old name in some of these
    ///   (``Capability/renameColumn``); ``KeyError``.
    public func renameTable(_ table: TableName, to name: String) throws {
        try inTurn {
            try checkRenames()
            try checkIsNoContent(table)
            try executeUpdate("ALTER TABLE \(raw: table.quoted) RENAME TO \(identifier: name)")
        }
    }

    /// Gives a column of a table another name, also in indexes, triggers and views that name it.
    ///
    /// - Throws: ``DatabaseError``, also where a full-text index reads the table, and with an engine without it (``Capability/renameColumn``);
    ///   ``KeyError``.
    public func renameColumn(_ column: String, of table: TableName, to name: String) throws {
        try inTurn {
            try checkRenames()
            try checkIsNoContent(table)
            let names = "\(quotedIdentifier(column)) TO \(quotedIdentifier(name))"
            try executeUpdate("ALTER TABLE \(raw: table.quoted) RENAME COLUMN \(raw: names)")
        }
    }
}

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

    /// The SQL, in a database with these settings.
    func sql(_ storage: ValueStorage) throws -> String {
        try ([quotedIdentifier(name), type.rawValue] + constraints.map { try $0.sql(storage) }).joined(separator: " ")
    }
}

/// The type affinity of a column (sqlite.org/datatype3.html#type_affinity).
public enum ColumnType: String, Sendable {
    /// Integers; also a `Bool`.
    case integer = "INTEGER"
    /// Floating-point numbers; also a `Date` in seconds (``ValueStorage/dates``).
    case real = "REAL"
    /// Texts; also a ``JSONColumn``, and a `Date` and a `UUID` unless ``ValueStorage`` says otherwise.
    case text = "TEXT"
    /// Bytes; also a `UUID` as bytes (``ValueStorage/uuids``). Values stay as they are.
    case blob = "BLOB"
    /// Numbers, as integers where they are; also a `Decimal` that SQL compares, to 15 digits.
    case numeric = "NUMERIC"
    /// A `Bool`, as 1 or 0. SQLite has no such type: it keeps numbers as ``numeric`` does.
    case boolean = "BOOLEAN"
    /// A day, or a `Date` as ``ValueStorage/dates`` says. SQLite has no such type: it keeps texts and numbers as ``numeric`` does.
    case date = "DATE"
    /// A `Date` as ``ValueStorage/dates`` says, as ``date``.
    case datetime = "DATETIME"
}

/// A constraint of a column.
public struct ColumnConstraint: Sendable {
    /// The SQL, in a database with these settings.
    let sql: @Sendable (ValueStorage) throws -> String

    private init(sql: String) {
        self.sql = { _ in sql }
    }

    /// - Throws: what `sql` throws with the default settings.
    fileprivate init(_ sql: @escaping @Sendable (ValueStorage) throws -> String) throws {
        _ = try sql(ValueStorage())
        self.sql = sql
    }

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
        try ColumnConstraint { "DEFAULT \(try value.databaseValue(in: $0).literal)" }
    }

    /// What SQL computes for rows that are inserted without a value, such as `CURRENT_TIMESTAMP`.
    ///
    /// - Throws: as ``default(_:)`` for a value in it.
    public static func `default`(sql: SQL) throws -> ColumnConstraint { try .sql("DEFAULT (\(sql: sql))") }

    /// SQL that is true of every row, such as `amount >= 0`.
    ///
    /// - Throws: as ``default(_:)`` for a value in it.
    public static func check(_ sql: SQL) throws -> ColumnConstraint { try .sql("CHECK (\(sql: sql))") }

    /// Any other constraint in SQL; also a part of the one before it, such as `ON CONFLICT REPLACE` behind ``primaryKey``.
    ///
    /// - Throws: as ``default(_:)`` for a value in it.
    public static func sql(_ sql: SQL) throws -> ColumnConstraint {
        try ColumnConstraint { try sql.literal(in: $0) }
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
        ColumnConstraint(sql: reference(to: table, column.map { [$0] } ?? [], onDelete))
    }
}

/// The action on rows when the row that they refer to is deleted, or its values change.
public enum ForeignKeyAction: String, Sendable {
    /// The deletion fails, unless the rows are gone by the end of the statement.
    case noAction = "NO ACTION"
    /// The deletion fails at once.
    case restrict = "RESTRICT"
    /// They are deleted, or changed, as well.
    case cascade = "CASCADE"
    /// Their column becomes NULL.
    case setNull = "SET NULL"
    /// Their column gets its default.
    case setDefault = "SET DEFAULT"
}

/// A constraint of several columns of a table.
public struct TableConstraint: Sendable {
    /// The SQL, in a database with these settings.
    let sql: @Sendable (ValueStorage) throws -> String

    /// Their values together tell the rows apart.
    public static func primaryKey(_ columns: String...) -> TableConstraint {
        TableConstraint { _ in "PRIMARY KEY \(list(columns))" }
    }

    /// No two rows have the same values.
    public static func unique(_ columns: String...) -> TableConstraint {
        TableConstraint { _ in "UNIQUE \(list(columns))" }
    }

    /// SQL that is true of every row, such as `first < last`.
    ///
    /// - Throws: as ``sql(_:)``.
    public static func check(_ sql: SQL) throws -> TableConstraint { try .sql("CHECK (\(sql: sql))") }

    /// Any other constraint in SQL, such as `PRIMARY KEY (list, number) ON CONFLICT REPLACE`.
    ///
    /// - Throws: ``DatabaseError`` for a text with a NUL character, which no SQL can have; what a value in it throws.
    public static func sql(_ sql: SQL) throws -> TableConstraint {
        _ = try sql.literal(in: ValueStorage())
        return TableConstraint { try sql.literal(in: $0) }
    }

    /// Their values together are those of columns of another table.
    ///
    /// - Parameters:
    ///   - columns: The columns of this table.
    ///   - table: The other table.
    ///   - others: As many columns there, which are unique; none for the primary key.
    ///   - onDelete: What happens to the row when the row there is deleted. By default the deletion fails.
    ///   - onUpdate: What happens to the row when the values there change. By default the change fails.
    public static func foreignKey(
        _ columns: [String],
        references table: String,
        _ others: [String] = [],
        onDelete: ForeignKeyAction = .noAction,
        onUpdate: ForeignKeyAction = .noAction
    ) -> TableConstraint {
        let reference = reference(to: table, others, onDelete)
        return TableConstraint { _ in "FOREIGN KEY \(list(columns)) \(reference) ON UPDATE \(onUpdate.rawValue)" }
    }
}

/// Names as they stand behind a constraint.
private func list(_ columns: [String]) -> String {
    "(\(columns.map(quotedIdentifier).joined(separator: ", ")))"
}

/// The other side of a foreign key; no columns stand for the primary key.
private func reference(to table: String, _ columns: [String], _ onDelete: ForeignKeyAction) -> String {
    let target = quotedIdentifier(table) + (columns.isEmpty ? "" : " " + list(columns))
    return "REFERENCES \(target) ON DELETE \(onDelete.rawValue)"
}

extension Database {
    /// Throws where a full-text index reads the table: SQLite leaves the names in its declaration.
    fileprivate func checkIsNoContent(_ table: TableName) throws {
        let catalogue = quotedIdentifier(table.schema ?? "main") + ".sqlite_master"
        let rows = try executeQuery(
            "SELECT name, sql FROM \(raw: catalogue) WHERE sql LIKE 'CREATE VIRTUAL%content%=%'"
        )
        defer { rows.close() }
        while try rows.next() {
            let (index, sql): (String, String) = try (rows["name"], rows["sql"])
            guard FullTextIndex.contents(ofDeclaration: sql).contains(where: { $0.isSameName(as: table.name) }) else {
                continue
            }
            throw DatabaseError(
                .misuse,
                "the full-text index \(index) reads \(table) by its names: call dropFullTextIndex, rename, and create the index again"
            )
        }
    }
}

private func checkRenames() throws(DatabaseError) {
    guard Engine.current.has(.renameColumn) else {
        throw DatabaseError(
            .error,
            "renaming takes SQLite 3.25 or later; this engine has \(Engine.current.sqliteVersion): make the table anew"
        )
    }
}
