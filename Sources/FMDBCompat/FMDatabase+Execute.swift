public import CipherDB
internal import Foundation

extension FMDatabase {
    // MARK: Updates

    /// Runs a statement with an array of values, as many as it has parameters.
    @discardableResult
    public func executeUpdate(_ sql: String, withArgumentsIn arguments: [Any]) -> Bool {
        attempt { try database.executeUpdate(SQL(unsafe: sql), values: Arguments.list(arguments)) }
    }

    /// Runs a statement with an array of values, as many as it has parameters.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func executeUpdate(_ sql: String, values: [Any]?) throws {
        try rethrowing { try database.executeUpdate(SQL(unsafe: sql), values: Arguments.list(values)) }
    }

    /// Runs a statement with values for its named parameters. As in FMDB, names that it does not have do not matter.
    @discardableResult
    public func executeUpdate(_ sql: String, withParameterDictionary arguments: [AnyHashable: Any]) -> Bool {
        attempt { try database.executeUpdate(SQL(unsafe: sql), values: Arguments.dictionary(arguments)) }
    }

    /// Runs a statement whose values stand in it: `"INSERT INTO t VALUES (\(name))"`. They are bound.
    @discardableResult public func executeUpdate(withFormat sql: SQL) -> Bool {
        attempt { try database.executeUpdate(sql) }
    }

    /// Runs a statement with the values that follow, as FMDB's Swift additions had it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func executeUpdate(_ sql: String, _ values: Any...) throws {
        try executeUpdate(sql, values: values)
    }

    /// Runs any number of statements without parameters.
    @discardableResult public func executeStatements(_ sql: String) -> Bool {
        attempt { try database.executeStatements(SQL(unsafe: sql)) }
    }

    /// Runs any number of statements without parameters, and calls `block` with each row. Unless it returns 0 that ends it.
    ///
    /// As in FMDB every value is a String, or NSNull for NULL and for bytes that are no text.
    @discardableResult
    public func executeStatements(_ sql: String, withResultBlock block: (([AnyHashable: Any]) -> Int32)?) -> Bool {
        guard let block else { return executeStatements(sql) }
        return attempt {
            try database.executeStatements(SQL(unsafe: sql)) { row in
                let texts = Dictionary(uniqueKeysWithValues: row.map { (AnyHashable($0), FMDatabase.text($1)) })
                guard block(texts) == 0 else { throw DatabaseError(code: .aborted, message: "query aborted") }
            }
        }
    }

    private static func text(_ value: DatabaseValue) -> Any {
        switch value {
        case .null: NSNull()
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let value): String(validating: value, as: UTF8.self) ?? NSNull()
        }
    }

    // MARK: Queries

    /// Starts a query with an array of values, as many as it has parameters. Nil, and an error, where it cannot.
    public func executeQuery(_ sql: String, withArgumentsIn arguments: [Any]) -> FMResultSet? {
        answer {
            FMResultSet(try database.executeQuery(SQL(unsafe: sql), values: Arguments.list(arguments)), self, sql)
        }
    }

    /// Starts a query with an array of values, as many as it has parameters.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func executeQuery(_ sql: String, values: [Any]?) throws -> FMResultSet {
        try rethrowing {
            FMResultSet(try database.executeQuery(SQL(unsafe: sql), values: Arguments.list(values)), self, sql)
        }
    }

    /// Starts a query with values for its named parameters. As in FMDB, names that it does not have do not matter.
    public func executeQuery(_ sql: String, withParameterDictionary arguments: [AnyHashable: Any]?) -> FMResultSet? {
        answer {
            FMResultSet(
                try database.executeQuery(SQL(unsafe: sql), values: Arguments.dictionary(arguments)),
                self,
                sql
            )
        }
    }

    /// Starts a query whose values stand in it: `"SELECT a FROM t WHERE b = \(name)"`. They are bound.
    public func executeQuery(withFormat sql: SQL) -> FMResultSet? {
        answer { FMResultSet(try database.executeQuery(sql), self, sql.text) }
    }

    /// Starts a query with the values that follow, as FMDB's Swift additions had it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func executeQuery(_ sql: String, _ values: Any...) throws -> FMResultSet {
        try executeQuery(sql, values: values)
    }

    /// Compiles a statement, for `FMResultSet.bind(with:)`. Where that fails, the set gives no rows.
    public func prepare(_ sql: String) -> FMResultSet {
        let set = FMResultSet(prepared: answer { try database.prepare(SQL(unsafe: sql)) }, self, sql)
        preparedSets = preparedSets.filter { $0.set != nil } + [Weak(set: set)]
        return set
    }

    // MARK: State

    /// Whether a result set is open.
    public var hasOpenResultSets: Bool {
        database.hasOpenResultSets || preparedSets.contains { $0.set?.isPreparedAndOpen == true }
    }

    /// Ends all result sets.
    public func closeOpenResultSets() {
        for entry in preparedSets { entry.set?.close() }
        preparedSets = []
        database.closeOpenResultSets()
    }

    /// Forgets the compiled statements that are not in use.
    public func clearCachedStatements() {
        database.clearCachedStatements()
    }
}
