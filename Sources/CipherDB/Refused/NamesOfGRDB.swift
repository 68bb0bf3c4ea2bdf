// What users of GRDB type first: the compiler says what it is here.

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
    public func execute(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``insert(into:encoding:)``.
    @available(*, unavailable, message: "a row is inserted by insert(into: \"table\", encoding: row)")
    public func insert(_ row: some Encodable, into table: TableName) throws { fatalError("unavailable") }

    /// Not there: see ``delete(from:where:)`` and ``deleteAll(from:)``.
    @available(*, unavailable, message: "delete(from:where:) has a condition; deleteAll(from:) deletes every row")
    public func delete(from table: TableName) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``integrityCheck()``.
    @available(*, unavailable, renamed: "integrityCheck()")
    @discardableResult
    public func verify() throws -> [String] { fatalError("unavailable") }

    /// Not there: see ``count(in:where:)``.
    @available(*, unavailable, renamed: "count(in:where:)")
    public func fetchCount(_ table: TableName) throws -> Int { fatalError("unavailable") }

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

    /// Not there: see ``count(in:where:)``.
    @available(
        *,
        unavailable,
        message:
            "whether a row is there is count(in: \"table\", where: condition) > 0; whether a table is, tableExists(\"table\")"
    )
    public func exists(in table: TableName, where condition: Condition? = nil) throws -> Bool {
        fatalError("unavailable")
    }

    /// Not there: see ``value(forQuery:values:)``.
    @available(
        *,
        unavailable,
        message:
            "whether there is a row is count(in: \"table\", where: condition) > 0, or bool(forQuery: \"SELECT EXISTS (…)\")"
    )
    public func exists(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Bool { fatalError("unavailable") }
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

    /// Not there: see `integrityCheck()`.
    @available(*, unavailable, renamed: "integrityCheck()")
    @discardableResult
    public func verify() throws -> [String] { fatalError("unavailable") }

    /// Not there: see `integrityCheck()`.
    @available(*, unavailable, renamed: "integrityCheck()")
    @discardableResult
    public func verify() async throws -> [String] { fatalError("unavailable") }
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
    /// Not there: see ``code`` and ``ResultCode/primary``.
    @available(*, unavailable, message: "the primary code is code.primary, the extended one is code")
    public var resultCode: ResultCode { fatalError("unavailable") }

    /// Not there: see ``code``.
    @available(*, unavailable, renamed: "code")
    public var extendedResultCode: ResultCode { fatalError("unavailable") }

    /// Not there: see ``code``.
    @available(
        *,
        unavailable,
        message: "compare the code: error.code == .constraintUnique, error.code.primary == .busy"
    )
    public static func == (error: DatabaseError, code: ResultCode) -> Bool { fatalError("unavailable") }

    /// Not there: see ``code``.
    @available(
        *,
        unavailable,
        message: "compare the code: error.code != .constraintUnique, error.code.primary != .busy"
    )
    public static func != (error: DatabaseError, code: ResultCode) -> Bool { fatalError("unavailable") }
}

extension Database {
    /// Not there: see ``executeQuery(_:_:)``.
    @available(
        *,
        unavailable,
        message: "row after row is executeQuery and rows.forEach { … }, or while try rows.next()"
    )
    public func cursor<Row: RowDecodable>(_ type: Row.Type, _ sql: SQL, _ values: (any ColumnEncodable)?...) throws
        -> [Row]
    {
        fatalError("unavailable")
    }

    /// What an insertion is asked for elsewhere: here ``insertOrIgnore(into:encoding:)`` and ``upsert(into:encoding:onConflict:)`` are calls of their own.
    public enum InsertConflict {
        /// Not there: see ``insertOrIgnore(into:encoding:)``.
        case ignore, replace, abort, fail, rollback
    }

    /// Not there: see ``insertOrIgnore(into:encoding:)``.
    @available(*, unavailable, message: "write insertOrIgnore(into:encoding:), or upsert(into:encoding:onConflict:)")
    public func insert(into table: TableName, encoding row: some Encodable, onConflict: InsertConflict) throws -> Int64
    {
        fatalError("unavailable")
    }

    /// Not there: see ``insertOrIgnore(into:_:)``.
    @available(*, unavailable, message: "write insertOrIgnore(into:_:), or upsert(into:_:onConflict:)")
    public func insert(into table: TableName, _ values: [String: (any ColumnEncodable)?], onConflict: InsertConflict)
        throws
        -> Int64
    {
        fatalError("unavailable")
    }
}
