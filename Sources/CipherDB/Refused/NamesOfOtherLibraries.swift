// What users of FMDB, GRDB and SQLite.swift type first: the compiler says what it is here.

extension Database {
    /// Not there: see ``executeUpdate(_:_:)`` and ``executeStatements(_:)``.
    @available(
        *,
        unavailable,
        message: "one statement is executeUpdate(\"…\", values), several are executeStatements(\"…\")"
    )
    public func execute(sql: SQL, arguments: StatementValues = []) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``executeUpdate(_:_:)`` and ``executeStatements(_:)``.
    @available(
        *,
        unavailable,
        message: "one statement is executeUpdate(\"…\", values), several are executeStatements(\"…\")"
    )
    public func execute(_ sql: SQL, _ values: (any Bindable)?...) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``executeUpdate(_:values:)``.
    @available(
        *,
        unavailable,
        message: "values follow the SQL: executeUpdate(\"…\", a, b); an array is values: StatementValues(array)"
    )
    public func executeUpdate(_ sql: SQL, withArgumentsIn values: [Any]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``executeQuery(_:values:)``.
    @available(
        *,
        unavailable,
        message: "values follow the SQL: executeQuery(\"…\", a, b); an array is values: StatementValues(array)"
    )
    public func executeQuery(_ sql: SQL, withArgumentsIn values: [Any]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``lastInsertRowID``.
    @available(*, unavailable, renamed: "lastInsertRowID")
    public var lastInsertRowId: Int64 { fatalError("unavailable") }

    /// Not there: see ``lastInsertRowID``.
    @available(*, unavailable, renamed: "lastInsertRowID")
    public var lastInsertedRowID: Int64 { fatalError("unavailable") }

    /// Not there: see ``changes``.
    @available(*, unavailable, renamed: "changes")
    public var changesCount: Int { fatalError("unavailable") }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(*, unavailable, renamed: "inSavePoint")
    @discardableResult
    public func inSavepoint<Result>(_ body: (Database) throws -> Result) throws -> Result {
        fatalError("unavailable")
    }

    /// Not there: see ``inSavePoint(_:)-((Database)->Result)``.
    @available(*, unavailable, message: "a savepoint is inSavePoint { database in … }, undone when the block throws")
    @discardableResult
    public func inSavepoint<Result>(_ body: () throws -> Result) throws -> Result {
        fatalError("unavailable")
    }

    /// Not there: see ``value(forQuery:_:)``.
    @available(
        *,
        unavailable,
        message: "let value: Int64? = try database.value(forQuery: …) has the type that is wanted"
    )
    public func int64(forQuery sql: SQL, _ values: (any Bindable)?...) throws -> Int64? {
        fatalError("unavailable")
    }

    /// Not there: see ``setKey(_:)-(String)``.
    @available(*, unavailable, renamed: "setKey")
    public func usePassphrase(_ passphrase: String) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``open(key:flags:)``.
    @available(
        *,
        unavailable,
        message: "text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)"
    )
    public func open(key: String, flags: OpenFlags = [.readWrite, .create]) throws {
        fatalError("unavailable")
    }
}

extension DatabaseWriter {
    /// Not there: see ``inSavePoint(_:)``.
    @available(*, unavailable, renamed: "inSavePoint")
    @discardableResult
    public func inSavepoint<Result>(_ body: (Database) throws -> Result) throws -> Result {
        fatalError("unavailable")
    }

    /// Not there: see ``inDatabase(_:)``.
    @available(*, unavailable, renamed: "inDatabase")
    public func writeWithoutTransaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
        fatalError("unavailable")
    }
}

extension DatabaseQueue {
    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message: "text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)"
    )
    public convenience init(path: String?, key: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "secret bytes are a passphrase as key: .passphrase(bytes), a raw key as key: .raw(bytes), its hexadecimal digits as key: .raw(hex: bytes)"
    )
    public convenience init(path: String?, key: SecretBytes, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }
}

extension DatabasePool {
    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message: "text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)"
    )
    public convenience init(path: String?, key: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "secret bytes are a passphrase as key: .passphrase(bytes), a raw key as key: .raw(bytes), its hexadecimal digits as key: .raw(hex: bytes)"
    )
    public convenience init(path: String?, key: SecretBytes, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }
}

extension ForeignKeyAction {
    /// Not there: see ``noAction``.
    @available(*, unavailable, renamed: "noAction")
    public static var fail: ForeignKeyAction { .noAction }
}

extension RowDecodable {
    /// Not there: see ``Database/fetchAll(_:_:_:)``.
    @available(*, unavailable, message: "rows as a type are database.fetchAll(Type.self, \"SELECT …\", values)")
    public static func fetchAll(_ database: Database, sql: SQL, arguments: StatementValues = []) throws -> [Self] {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/fetchOne(_:_:_:)``.
    @available(*, unavailable, message: "a row as a type is database.fetchOne(Type.self, \"SELECT …\", values)")
    public static func fetchOne(_ database: Database, sql: SQL, arguments: StatementValues = []) throws -> Self? {
        fatalError("unavailable")
    }
}

extension Configuration {
    /// Not there: see ``enforcesForeignKeys``.
    @available(*, unavailable, renamed: "enforcesForeignKeys")
    public var foreignKeysEnabled: Bool {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }
}

extension Condition {
    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") == value")
    public static func equal(_ column: String, _ value: (any Bindable)?) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") != value")
    public static func notEqual(_ column: String, _ value: (any Bindable)?) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") < value")
    public static func less(_ column: String, than value: any Bindable) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") > value")
    public static func greater(_ column: String, than value: any Bindable) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") <= value")
    public static func lessOrEqual(_ column: String, to value: any Bindable) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") >= value")
    public static func greaterOrEqual(_ column: String, to value: any Bindable) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\").between(least, greatest)")
    public static func between(_ column: String, _ least: any Bindable, and greatest: any Bindable) -> Condition {
        fatalError("unavailable")
    }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\").like(pattern)")
    public static func like(_ column: String, _ pattern: String) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\").isIn(values)")
    public static func isIn(_ column: String, _ values: [any Bindable]) -> Condition { fatalError("unavailable") }

    /// Not there: see ``Column``.
    @available(*, unavailable, message: "a condition is Column(\"name\") == nil")
    public static func isNull(_ column: String) -> Condition { fatalError("unavailable") }
}

extension Column {
    /// Not there: see ``isIn(_:)``.
    @available(*, unavailable, renamed: "isIn")
    public func `in`(_ values: [any Bindable]) -> Condition { fatalError("unavailable") }

    /// Not there: see ``between(_:_:)``.
    @available(*, unavailable, renamed: "between(_:_:)")
    public func between(_ least: any Bindable, and greatest: any Bindable) -> Condition { fatalError("unavailable") }
}

extension DatabaseError {
    /// Not there: see ``code``.
    @available(*, unavailable, renamed: "code")
    public var resultCode: ResultCode { fatalError("unavailable") }

    /// Not there: see ``code``.
    @available(*, unavailable, renamed: "code")
    public var extendedResultCode: ResultCode { fatalError("unavailable") }
}

extension ResultSet {
    /// Not there: see ``JSONColumn``.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "an array in one column is JSON: (try rows[name] as JSONColumn<[Element]>).value"
    )
    public subscript<Element: Decodable>(_ column: String) -> [Element] { fatalError("unavailable") }
}
