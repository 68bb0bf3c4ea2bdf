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

    /// Not there: see ``executeUpdate(_:values:)``.
    @available(*, unavailable, message: "values by name are executeUpdate(\"…\", values: [\"name\": value])")
    public func executeUpdate(_ sql: SQL, withParameterDictionary values: [AnyHashable: Any]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``executeQuery(_:values:)``.
    @available(*, unavailable, message: "values by name are executeQuery(\"…\", values: [\"name\": value])")
    public func executeQuery(_ sql: SQL, withParameterDictionary values: [AnyHashable: Any]) throws -> ResultSet {
        fatalError("unavailable")
    }

    /// Not there: see ``DatabaseError``.
    @available(*, unavailable, message: "what fails throws a DatabaseError, with its code and message")
    public func lastError() -> any Error { fatalError("unavailable") }

    /// Not there: see ``DatabaseError``.
    @available(*, unavailable, message: "what fails throws a DatabaseError, with its code and message")
    public func lastErrorMessage() -> String { fatalError("unavailable") }

    /// Not there: see ``insert(into:encoding:)``.
    @available(*, unavailable, message: "a row is inserted by insert(into: \"table\", encoding: row)")
    public func insert(_ row: some Encodable, into table: TableName) throws { fatalError("unavailable") }

    /// Not there: see ``delete(from:where:)`` and ``deleteAll(from:)``.
    @available(*, unavailable, message: "delete(from:where:) has a condition; deleteAll(from:) deletes every row")
    public func delete(from table: TableName) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``count(in:where:)``.
    @available(*, unavailable, renamed: "count(in:where:)")
    public func fetchCount(_ table: TableName) throws -> Int { fatalError("unavailable") }

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

extension DatabaseReader {
    /// Not there: see ``tableChanges(of:)``.
    @available(*, unavailable, renamed: "tableChanges(of:)")
    public func observe(tables: [TableName]) -> TableChanges { fatalError("unavailable") }

    /// Not there: see ``backup(to:key:pagesPerStep:progress:)``.
    @available(*, unavailable, message: "a backup is a new file: backup(to: \"path\", key: key)")
    public func backup(to other: some DatabaseWriter) throws { fatalError("unavailable") }
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

extension DatabaseError {
    /// Not there: see ``code``.
    @available(*, unavailable, renamed: "code")
    public var resultCode: ResultCode { fatalError("unavailable") }

    /// Not there: see ``code``.
    @available(*, unavailable, renamed: "code")
    public var extendedResultCode: ResultCode { fatalError("unavailable") }
}
