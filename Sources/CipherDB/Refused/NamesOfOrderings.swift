// Other spellings of `orderedBy:`: the compiler says what to write instead.

extension Database {
    /// Not there: see ``select(_:from:where:orderedBy:limit:offset:)``.
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: Condition? = nil,
        order ordering: [Ordering],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func fetchAll<Value: RowDecodable>(
        _ type: Value.Type,
        from table: TableName,
        where condition: Condition? = nil,
        order ordering: [Ordering],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Value] { fatalError("unavailable") }

    /// Not there: see ``fetchOne(_:from:where:orderedBy:)``.
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func fetchOne<Value: RowDecodable>(
        _ type: Value.Type,
        from table: TableName,
        where condition: Condition? = nil,
        order ordering: [Ordering]
    ) throws -> Value? { fatalError("unavailable") }

    /// Not there: see ``select(_:from:where:orderedBy:limit:offset:)``.
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: Condition? = nil,
        orderBy ordering: [Ordering],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``fetchAll(_:from:where:orderedBy:limit:offset:)``.
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func fetchAll<Value: RowDecodable>(
        _ type: Value.Type,
        from table: TableName,
        where condition: Condition? = nil,
        orderBy ordering: [Ordering],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Value] { fatalError("unavailable") }

    /// Not there: see ``fetchOne(_:from:where:orderedBy:)``.
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func fetchOne<Value: RowDecodable>(
        _ type: Value.Type,
        from table: TableName,
        where condition: Condition? = nil,
        orderBy ordering: [Ordering]
    ) throws -> Value? { fatalError("unavailable") }
}
