/// A type whose values are rows of one table.
///
/// ```swift
/// struct Note: Codable, RowDecodable, MutablePersistableRecord {
///     static let databaseTableName = "notes"
///     var id: Int64?
///     var text: String
///     mutating func didInsert(_ rowID: Int64) { id = rowID }
/// }
/// var note = Note(text: "milk")
/// try note.insert(database)
/// let notes = try Note.fetchAll(database, where: Column("text") == "milk")
/// ```
///
/// SQL stays the language of queries: what these calls cannot say, `database.fetchAll(Note.self, "SELECT …")` says.
public protocol TableRecord {
    /// The table: `player` for `Player`, and `httpRequest` for `HTTPRequest`, unless the type names it.
    static var databaseTableName: String { get }
}

extension TableRecord {
    /// The name of the type with its first word in small letters.
    public static var databaseTableName: String {
        let name = String(describing: Self.self).prefix { $0 != "<" }
        let capitals = name.prefix(while: \.isUppercase).count
        let word = capitals > 1 && capitals < name.count ? capitals - 1 : capitals
        return name.prefix(word).lowercased() + name.dropFirst(word)
    }
}

/// A record that can be stored, and that is given the rowid of its row when it is inserted.
public protocol MutablePersistableRecord: TableRecord {
    /// Puts the values of the row into the container; of an `Encodable` type its coding keys are the names of the columns.
    ///
    /// - Throws: what is thrown to the caller of the verb.
    func encode(to container: inout PersistenceContainer) throws

    /// The row was inserted; does nothing unless the type has its own. A view gives no rowid, nor does an insertion into a table `WITHOUT ROWID`.
    mutating func didInsert(_ rowID: Int64)
}

/// A record that can be stored, and that an insertion does not change, such as one with a UUID as its key.
public protocol PersistableRecord: MutablePersistableRecord {}

/// The values of a row by the names of their columns.
public struct PersistenceContainer {
    fileprivate var pairs: Database.Pairs = []
    fileprivate var storage = ValueStorage()

    /// The value of a column, also by another case of letters; nil is NULL.
    public subscript(_ column: String) -> (any ColumnEncodable)? {
        get { pairs.first { $0.name.isSameName(as: column) }?.value }
        set {
            if let index = pairs.firstIndex(where: { $0.name.isSameName(as: column) }) {
                pairs[index].value = newValue
            } else {
                pairs.append((column, newValue))
            }
        }
    }

    /// The value of a column; nil is NULL.
    public subscript(_ column: Column) -> (any ColumnEncodable)? {
        get { self[column.name] }
        set { self[column.name] = newValue }
    }
}

extension MutablePersistableRecord where Self: Encodable {
    /// The values by their coding keys.
    public func encode(to container: inout PersistenceContainer) throws {
        container.pairs = try RowEncoder.values(of: self)
        guard container.storage.columnsAreSnakeCase else { return }
        for index in container.pairs.indices { container.pairs[index].name = container.pairs[index].name.snakeCase }
    }
}

extension MutablePersistableRecord {
    /// Does nothing.
    public mutating func didInsert(_ rowID: Int64) {}
}

// MARK: Finding

extension TableRecord where Self: RowDecodable {
    /// The rows of the table: all of them unless there is a condition.
    ///
    /// - Throws: ``DatabaseError``, also for a row that is not of this type; ``KeyError``.
    public static func fetchAll(
        _ database: Database,
        where condition: Condition? = nil,
        orderedBy ordering: [Ordering] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Self] {
        try database.select(from: table, where: condition, orderedBy: ordering, limit: limit, offset: offset).fetchAll()
    }

    /// The first row of the table, in this order, that the condition is true of; nil where there is none.
    ///
    /// - Throws: as ``fetchAll(_:where:orderedBy:limit:offset:)``.
    public static func fetchOne(
        _ database: Database,
        where condition: Condition? = nil,
        orderedBy ordering: [Ordering] = []
    ) throws -> Self? {
        try database.select(from: table, where: condition, orderedBy: ordering, limit: 1).fetchOne()
    }

    /// The row with this primary key, which is one column; nil where there is none, and for NULL.
    ///
    /// - Throws: ``DatabaseError``, also for a table whose primary key is not one column; ``KeyError``.
    public static func fetchOne(_ database: Database, key: (any ColumnEncodable)?) throws -> Self? {
        try database.inTurn {
            guard let condition = try database.condition(ofKey: key, in: table) else { return nil }
            return try fetchOne(database, where: condition)
        }
    }

    /// The row with this primary key, which is one column.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/notFound`` where there is none; as ``fetchOne(_:key:)``.
    public static func find(_ database: Database, key: (any ColumnEncodable)?) throws -> Self {
        guard let found = try fetchOne(database, key: key) else { throw noRow }
        return found
    }
}

extension TableRecord {
    fileprivate static var table: TableName { TableName(databaseTableName) }

    fileprivate static var noRow: DatabaseError {
        DatabaseError(.notFound, "\(table) has no row with this primary key")
    }

    /// How many rows of the table the condition is true of; all of them without one.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public static func fetchCount(_ database: Database, where condition: Condition? = nil) throws -> Int {
        try database.count(in: table, where: condition)
    }

    /// Whether there is a row with this primary key, which is one column.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public static func exists(_ database: Database, key: (any ColumnEncodable)?) throws -> Bool {
        try database.inTurn {
            guard let condition = try database.condition(ofKey: key, in: table) else { return false }
            return try database.exists(in: table, where: condition)
        }
    }

    /// Deletes every row of the table.
    ///
    /// - Returns: how many were deleted.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public static func deleteAll(_ database: Database) throws -> Int {
        try database.deleteAll(from: table)
    }

    /// Deletes the rows that the condition is true of.
    ///
    /// - Returns: how many were deleted.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public static func deleteAll(_ database: Database, where condition: Condition) throws -> Int {
        try database.delete(from: table, where: condition)
    }

    /// Deletes the row with this primary key, which is one column.
    ///
    /// - Returns: whether there was one.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public static func deleteOne(_ database: Database, key: (any ColumnEncodable)?) throws -> Bool {
        try database.inTurn {
            guard let condition = try database.condition(ofKey: key, in: table) else { return false }
            return try database.delete(from: table, where: condition) > 0
        }
    }
}

// MARK: Storing

extension MutablePersistableRecord {
    /// Inserts the row. Nil as the rowid is a new one, which ``didInsert(_:)`` is told.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; what ``encode(to:)`` throws.
    public mutating func insert(_ database: Database) throws {
        if let rowID = try inserted(database) { didInsert(rowID) }
    }

    /// Inserts the row, or gives the row that has its values in `columns` the others: the primary key, unless others are named, which must be
    /// unique.
    ///
    /// - Throws: ``DatabaseError``, also with an engine without it, before SQLite 3.24 (``Capability/upsert``); ``KeyError``; what
    ///   ``encode(to:)`` throws.
    public mutating func upsert(_ database: Database, onConflict columns: String...) throws {
        if let rowID = try upserted(database, columns) { didInsert(rowID) }
    }

    /// Gives the row with its primary key its values, or inserts it where there is none.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; what ``encode(to:)`` throws.
    public mutating func save(_ database: Database) throws {
        if let rowID = try saved(database) { didInsert(rowID) }
    }

    /// Gives the row with its primary key its values.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/notFound`` where there is none; ``DatabaseError``, ``KeyError``; what ``encode(to:)``
    ///   throws.
    public func update(_ database: Database) throws {
        guard try change(pairs(in: database), in: database, where: { _ in true }) != nil else { throw Self.noRow }
    }

    /// Stores what `modify` changes, and nothing else.
    ///
    /// - Returns: whether anything was changed.
    /// - Throws: as ``update(_:)``; what `modify` throws.
    @discardableResult
    public mutating func updateChanges(_ database: Database, modify: (inout Self) throws -> Void) throws -> Bool {
        // A copy of an object would change with it.
        let old = try pairs(in: database)
        try modify(&self)
        return try updateChanges(database, old)
    }

    /// Stores the values that are others than those of `old`.
    ///
    /// - Returns: whether there were any.
    /// - Throws: as ``update(_:)``.
    @discardableResult
    public func updateChanges(_ database: Database, from old: Self) throws -> Bool {
        try updateChanges(database, old.pairs(in: database))
    }

    /// Deletes the row with its primary key.
    ///
    /// - Returns: whether there was one.
    /// - Throws: ``DatabaseError``, ``KeyError``; what ``encode(to:)`` throws.
    @discardableResult
    public func delete(_ database: Database) throws -> Bool {
        let pairs = try pairs(in: database)
        return try database.inTurn {
            guard let condition = try key(of: pairs, in: database).condition else { return false }
            return try database.delete(from: Self.table, where: condition) > 0
        }
    }

    /// Whether there is a row with its primary key.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; what ``encode(to:)`` throws.
    public func exists(_ database: Database) throws -> Bool {
        let pairs = try pairs(in: database)
        return try database.inTurn {
            guard let condition = try key(of: pairs, in: database).condition else { return false }
            return try database.exists(in: Self.table, where: condition)
        }
    }

    // What is done, and the rowid where one is given.

    fileprivate func inserted(_ database: Database) throws -> Int64? {
        try database.insert(into: Self.table, pairs(in: database))
    }

    fileprivate func upserted(_ database: Database, _ columns: [String]) throws -> Int64? {
        try database.upsert(into: Self.table, pairs(in: database), columns)
    }

    fileprivate func saved(_ database: Database) throws -> Int64? {
        let pairs = try pairs(in: database)
        return try database.inTurn {
            guard try change(pairs, in: database, where: { _ in true }) == nil else { return nil }
            return try database.insert(into: Self.table, pairs)
        }
    }

    private func updateChanges(_ database: Database, _ old: Database.Pairs) throws -> Bool {
        let pairs = try pairs(in: database)
        return try database.inTurn {
            let storage = database.storage
            func stored(_ value: (any ColumnEncodable)?) throws -> DatabaseValue {
                try value?.databaseValue(in: storage) ?? .null
            }
            let before = PersistenceContainer(pairs: old)
            let changed = try change(pairs, in: database) { try stored($0.value) != stored(before[$0.name]) }
            guard let changed else { throw Self.noRow }
            return changed > 0
        }
    }

    private func pairs(in database: Database) throws -> Database.Pairs {
        var container = PersistenceContainer(storage: database.storage)
        try encode(to: &container)
        return container.pairs
    }

    /// The columns of the primary key, and what is true of the row with these values in them; nil where one of them is nil.
    private func key(of pairs: Database.Pairs, in database: Database) throws -> (names: [String], condition: Condition?)
    {
        let names = try database.primaryKey(of: Self.table).map(\.name)
        let storage = database.storage
        guard !names.isEmpty else {
            throw DatabaseError(.misuse, "\(Self.table) has no primary key, by which its records could be told apart")
        }
        let values = PersistenceContainer(pairs: pairs)
        var condition: Condition?
        for name in names {
            guard let value = values[name], try value.databaseValue(in: storage) != .null
            else { return (names, nil) }
            condition = condition.map { $0 && Column(name) == value } ?? (Column(name) == value)
        }
        return (names, condition)
    }

    /// Stores those of the values that are wanted.
    ///
    /// - Returns: how many values were stored, none where a trigger ignored it; nil where there is no row with the primary key.
    private func change(
        _ pairs: Database.Pairs,
        in database: Database,
        where isWanted: (Database.Pairs.Element) throws -> Bool
    ) throws -> Int? {
        try database.inTurn {
            let key = try key(of: pairs, in: database)
            guard let condition = key.condition else { return nil }
            let values = try pairs.filter { pair in
                try !key.names.contains { $0.isSameName(as: pair.name) } && isWanted(pair)
            }
            if !values.isEmpty, try database.update(Self.table, values, condition) > 0 { return values.count }
            return try database.exists(in: Self.table, where: condition) ? 0 : nil
        }
    }
}

extension PersistableRecord {
    /// Inserts the row.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; what `encode(to:)` throws.
    public func insert(_ database: Database) throws {
        _ = try inserted(database)
    }

    /// Inserts the row, or gives the row that has its values in `columns` the others, as the form of ``MutablePersistableRecord``.
    ///
    /// - Throws: as that.
    public func upsert(_ database: Database, onConflict columns: String...) throws {
        _ = try upserted(database, columns)
    }

    /// Gives the row with its primary key its values, or inserts it where there is none.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; what `encode(to:)` throws.
    public func save(_ database: Database) throws {
        _ = try saved(database)
    }
}

extension Database {
    /// Nil for a key that is NULL, which finds no row.
    fileprivate func condition(ofKey key: (any ColumnEncodable)?, in table: TableName) throws -> Condition? {
        let column = try keyColumn(of: table)
        guard let key, try key.databaseValue(in: storage) != .null else { return nil }
        return column == key
    }

    fileprivate func exists(in table: TableName, where condition: Condition) throws -> Bool {
        let rows = try select(from: table, where: condition, limit: 1)
        defer { rows.close() }
        return try rows.next()
    }
}
