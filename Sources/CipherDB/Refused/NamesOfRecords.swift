// The calls of GRDB's records on a type or a value of it: a type here does not know its table, and the database has the calls.

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

    /// Not there: see ``Database/fetchAll(_:_:_:)``.
    @available(*, unavailable, message: "rows as a type are database.fetchAll(Type.self, \"SELECT …\", values)")
    public static func fetchAll(_ database: Database) throws -> [Self] { fatalError("unavailable") }

    /// Not there: see ``Database/fetchOne(_:_:_:)``.
    @available(*, unavailable, message: "a row as a type is database.fetchOne(Type.self, \"SELECT …\", values)")
    public static func fetchOne(_ database: Database) throws -> Self? { fatalError("unavailable") }

    /// Not there: see ``Database/find(_:in:id:)``.
    @available(
        *,
        unavailable,
        message: "the row with a primary key is database.find(Type.self, in: \"table\", id: key)"
    )
    public static func fetchOne(_ database: Database, key: any ColumnEncodable) throws -> Self? {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/find(_:in:id:)``.
    @available(
        *,
        unavailable,
        message: "the row with a primary key is database.find(Type.self, in: \"table\", id: key)"
    )
    public static func fetchOne(_ database: Database, id: any ColumnEncodable) throws -> Self? {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/find(_:in:id:)``.
    @available(
        *,
        unavailable,
        message: "the row with a primary key is database.find(Type.self, in: \"table\", id: key)"
    )
    public static func find(_ database: Database, key: any ColumnEncodable) throws -> Self { fatalError("unavailable") }

    /// Not there: see ``Database/find(_:in:id:)``.
    @available(
        *,
        unavailable,
        message: "the row with a primary key is database.find(Type.self, in: \"table\", id: key)"
    )
    public static func find(_ database: Database, id: any ColumnEncodable) throws -> Self { fatalError("unavailable") }

    /// Not there: see ``Database/count(in:where:)``.
    @available(*, unavailable, message: "the number of rows is database.count(in: \"table\")")
    public static func fetchCount(_ database: Database) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``Database/deleteAll(from:)``.
    @available(*, unavailable, message: "every row is deleted by database.deleteAll(from: \"table\")")
    @discardableResult
    public static func deleteAll(_ database: Database) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``Database/delete(from:where:)``.
    @available(
        *,
        unavailable,
        message: "a row is deleted by database.delete(from: \"table\", where: Column(\"id\") == key)"
    )
    @discardableResult
    public static func deleteOne(_ database: Database, key: any ColumnEncodable) throws -> Bool {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/delete(from:where:)``.
    @available(
        *,
        unavailable,
        message: "a row is deleted by database.delete(from: \"table\", where: Column(\"id\") == key)"
    )
    @discardableResult
    public static func deleteOne(_ database: Database, id: any ColumnEncodable) throws -> Bool {
        fatalError("unavailable")
    }

    /// Not there: see ``Database/fetchAll(_:_:_:)``.
    @available(*, unavailable, message: "rows as a type are database.fetchAll(Type.self, \"SELECT …\", values)")
    public static func all() -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(
        *,
        unavailable,
        message: "rows with a condition are database.fetchAll(Type.self, from: \"table\", where: condition)"
    )
    public static func filter(_ condition: Condition) -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(
        *,
        unavailable,
        message: "rows with a condition are database.fetchAll(Type.self, from: \"table\", where: condition)"
    )
    public static func filter(key: any ColumnEncodable) -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(
        *,
        unavailable,
        message: "rows with a condition are database.fetchAll(Type.self, from: \"table\", where: condition)"
    )
    public static func filter(id: any ColumnEncodable) -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(
        *,
        unavailable,
        message: "rows in order are database.fetchAll(Type.self, from: \"table\", orderedBy: [.ascending(\"column\")])"
    )
    public static func order(_ orderings: Ordering...) -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(
        *,
        unavailable,
        message: "rows in order are database.fetchAll(Type.self, from: \"table\", orderedBy: [.ascending(\"column\")])"
    )
    public static func order(_ columns: Column...) -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(
        *,
        unavailable,
        message: "some of the rows are database.fetchAll(Type.self, from: \"table\", limit: 10)"
    )
    public static func limit(_ limit: Int, offset: Int = 0) -> Self.Type { fatalError("unavailable") }

    /// Not there: see ``Database/insert(into:encoding:)``.
    @available(*, unavailable, message: "a row is inserted by database.insert(into: \"table\", encoding: row)")
    public func insert(_ database: Database) throws { fatalError("unavailable") }

    /// Not there: see ``Database/update(_:encoding:where:)``.
    @available(
        *,
        unavailable,
        message: "a row is changed by database.update(\"table\", encoding: row, where: Column(\"id\") == row.id)"
    )
    public func update(_ database: Database) throws { fatalError("unavailable") }

    /// Not there: see ``Database/upsert(into:encoding:onConflict:)``.
    @available(
        *,
        unavailable,
        message: "a row is inserted or changed by database.upsert(into: \"table\", encoding: row)"
    )
    public func save(_ database: Database) throws { fatalError("unavailable") }

    /// Not there: see ``Database/upsert(into:encoding:onConflict:)``.
    @available(
        *,
        unavailable,
        message: "a row is inserted or changed by database.upsert(into: \"table\", encoding: row)"
    )
    public func upsert(_ database: Database) throws { fatalError("unavailable") }

    /// Not there: see ``Database/delete(from:where:)``.
    @available(
        *,
        unavailable,
        message: "a row is deleted by database.delete(from: \"table\", where: Column(\"id\") == row.id)"
    )
    @discardableResult
    public func delete(_ database: Database) throws -> Bool { fatalError("unavailable") }
}
