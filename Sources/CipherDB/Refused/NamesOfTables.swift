// How other libraries make tables, indexes and columns: the compiler says how it is done here.

extension Database {
    /// Not there: see ``createTable(_:columns:constraints:ifNotExists:withoutRowID:)``.
    @available(
        *,
        unavailable,
        message: "a table is createTable(\"name\", columns: [ColumnDefinition(\"id\", .integer, .primaryKey)])"
    )
    public func create(
        table: TableName,
        ifNotExists: Bool = false,
        withoutRowID: Bool = false,
        body: (TableChange) throws -> Void
    ) throws { fatalError("unavailable") }

    /// Not there: see ``createTable(_:columns:constraints:ifNotExists:withoutRowID:)``.
    @available(
        *,
        unavailable,
        message: "a table is createTable(\"name\", columns: [ColumnDefinition(\"id\", .integer, .primaryKey)])"
    )
    public func create(table: TableName, options: [String], body: (TableChange) throws -> Void) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``addColumn(_:to:)``.
    @available(
        *,
        unavailable,
        message: "a column is added by addColumn(ColumnDefinition(\"name\", .text), to: \"table\")"
    )
    public func alter(table: TableName, body: (TableChange) throws -> Void) throws { fatalError("unavailable") }

    /// Not there: see ``dropTable(_:ifExists:)``.
    @available(*, unavailable, renamed: "dropTable(_:)")
    public func drop(table: TableName) throws { fatalError("unavailable") }

    /// Not there: see ``createIndex(_:on:columns:unique:where:ifNotExists:)``.
    @available(*, unavailable, message: "an index is createIndex(\"name\", on: \"table\", columns: [\"column\"])")
    public func create(
        index: String,
        on table: TableName,
        columns: [String],
        unique: Bool = false,
        ifNotExists: Bool = false
    ) throws { fatalError("unavailable") }

    /// Not there: see ``createIndex(_:on:columns:unique:where:ifNotExists:)``.
    @available(*, unavailable, message: "an index is createIndex(\"name\", on: \"table\", columns: [\"column\"])")
    public func create(indexOn table: TableName, columns: [String]) throws { fatalError("unavailable") }

    /// Not there: see ``dropIndex(_:ifExists:)``.
    @available(*, unavailable, renamed: "dropIndex(_:)")
    public func drop(index: String) throws { fatalError("unavailable") }

    /// What a block of `create(table:)` gets in other libraries, so that the compiler refuses the call and not what is in the block.
    @dynamicMemberLookup @dynamicCallable
    public struct TableChange {
        /// Not there: see ``ColumnDefinition``.
        @discardableResult
        public func column(_ name: String, _ type: ColumnType? = nil) -> TableChange { self }

        /// Not there: see ``addColumn(_:to:)``.
        @discardableResult
        public func add(column name: String, _ type: ColumnType? = nil) -> TableChange { self }

        /// Not there: see ``ColumnConstraint``.
        @discardableResult
        public func references(
            _ table: String,
            column: String? = nil,
            onDelete: ForeignKeyAction = .noAction
        ) -> TableChange { self }

        /// Not there: see ``ColumnConstraint``.
        public subscript(dynamicMember name: String) -> TableChange { self }

        /// Not there: see ``ColumnConstraint``.
        @discardableResult
        public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) -> TableChange { self }
    }
}

extension ForeignKeyAction {
    /// Not there: see ``noAction``.
    @available(*, unavailable, renamed: "noAction")
    public static var fail: ForeignKeyAction { .noAction }
}

extension ColumnConstraint {
    /// Not there: see ``default(_:)``.
    @available(*, unavailable, renamed: "default(_:)")
    public static func defaults(to value: any ColumnEncodable) -> ColumnConstraint { fatalError("unavailable") }

    /// Not there: see ``default(sql:)``.
    @available(*, unavailable, renamed: "default(sql:)")
    public static func defaults(sql: SQL) -> ColumnConstraint { fatalError("unavailable") }
}

extension ColumnType {
    /// Not there: see ``integer``.
    @available(*, unavailable, message: "a Bool is stored in a column of the type .integer")
    public static var boolean: ColumnType { fatalError("unavailable") }

    /// Not there: see ``integer``.
    @available(*, unavailable, message: "a Bool is stored in a column of the type .integer")
    public static var bool: ColumnType { fatalError("unavailable") }

    /// Not there: see ``text``.
    @available(
        *,
        unavailable,
        message: "a Date is stored in a column of the type .text, or .real with DateFormat.secondsSince1970"
    )
    public static var datetime: ColumnType { fatalError("unavailable") }

    /// Not there: see ``text``.
    @available(
        *,
        unavailable,
        message: "a Date is stored in a column of the type .text, or .real with DateFormat.secondsSince1970"
    )
    public static var date: ColumnType { fatalError("unavailable") }

    /// Not there: see ``real``.
    @available(*, unavailable, renamed: "real")
    public static var double: ColumnType { fatalError("unavailable") }

    /// Not there: see ``text``.
    @available(*, unavailable, renamed: "text")
    public static var string: ColumnType { fatalError("unavailable") }
}
