// Text, dictionaries and lists where typed calls take conditions, orderings and columns: the compiler says what to write instead.

extension Database {
    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: String,
        orderedBy ordering: [Ordering] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    public func count(in table: TableName, where condition: String) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    @discardableResult
    public func update(_ table: TableName, set values: [String: (any ColumnEncodable)?], where condition: String) throws
        -> Int
    { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    @discardableResult
    public func delete(from table: TableName, where condition: String) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: [String: (any ColumnEncodable)?],
        orderedBy ordering: [Ordering] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    public func count(in table: TableName, where condition: [String: (any ColumnEncodable)?]) throws -> Int {
        fatalError("unavailable")
    }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    @discardableResult
    public func update(
        _ table: TableName,
        set values: [String: (any ColumnEncodable)?],
        where condition: [String: (any ColumnEncodable)?]
    ) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    @discardableResult
    public func delete(from table: TableName, where condition: [String: (any ColumnEncodable)?]) throws -> Int {
        fatalError("unavailable")
    }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    @discardableResult
    public func update(_ table: TableName, encoding row: some Encodable, where condition: String) throws -> Int {
        fatalError("unavailable")
    }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    @discardableResult
    public func update(
        _ table: TableName,
        encoding row: some Encodable,
        where condition: [String: (any ColumnEncodable)?]
    ) throws -> Int { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    public func createIndex(
        _ name: String,
        on table: TableName,
        columns: [String],
        unique: Bool = false,
        where condition: String,
        ifNotExists: Bool = false
    ) throws { fatalError("unavailable") }

    /// Not there: see ``Condition``.
    @_disfavoredOverload
    @available(*, unavailable, message: "a condition is Column(\"id\") == id, or a literal, \"id = \\(id)\"")
    public func createIndex(
        _ name: String,
        on table: TableName,
        columns: [String],
        unique: Bool = false,
        where condition: [String: (any ColumnEncodable)?],
        ifNotExists: Bool = false
    ) throws { fatalError("unavailable") }

    /// Not there: see ``Ordering``.
    @_disfavoredOverload
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: Condition? = nil,
        orderedBy ordering: [String],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``Ordering``.
    @_disfavoredOverload
    @available(*, unavailable, message: "an order is orderedBy: [.ascending(\"id\")], or .descending(\"id\")")
    public func select(
        _ columns: [String] = [],
        from table: TableName,
        where condition: Condition? = nil,
        orderedBy ordering: [Column],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> ResultSet { fatalError("unavailable") }

    /// Not there: see ``find(_:in:id:)``.
    @available(*, unavailable, message: "the row with a primary key is find(Type.self, in: \"table\", id: key)")
    public func find<Value: RowDecodable>(_ type: Value.Type, id: any ColumnEncodable) throws -> Value? {
        fatalError("unavailable")
    }

    /// Not there: see ``upsert(into:_:onConflict:)``.
    @available(*, unavailable, message: "the columns follow each other: onConflict: \"a\", \"b\"")
    @discardableResult
    public func upsert(into table: TableName, _ values: [String: (any ColumnEncodable)?], onConflict columns: [String])
        throws
        -> Int64
    { fatalError("unavailable") }

    /// Not there: see ``upsert(into:encoding:onConflict:)``.
    @available(*, unavailable, message: "the columns follow each other: onConflict: \"a\", \"b\"")
    @discardableResult
    public func upsert(into table: TableName, encoding row: some Encodable, onConflict columns: [String]) throws
        -> Int64
    { fatalError("unavailable") }
}
