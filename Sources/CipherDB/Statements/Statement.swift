/// A compiled SQL statement, which can be run repeatedly with other values.
///
/// It belongs to the database that made it, and is used where that is: on another thread each call throws.
public final class Statement {
    @usableFromInline let prepared: PreparedStatement
    /// Nil while the statement lies in the database's cache: the two would keep each other alive.
    var database: Database?
    var cacheEntry = StatementCache.Entry()
    /// Those in terms that are the same for each row, counted from 0.
    lazy var constantParameters = ConstantTerms.parameters(of: sql)

    init(_ prepared: PreparedStatement, database: Database) {
        self.prepared = prepared
        self.database = database
    }

    deinit {
        let prepared = prepared
        prepared.connection.letGo { prepared.finalize() }
    }

    @inline(__always) private func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let stay = try prepared.enter()
        defer { prepared.leave(stay) }
        return try body()
    }

    @usableFromInline func enter() throws -> Turn.Stay { try prepared.enter() }
    @usableFromInline func leave(_ stay: Turn.Stay) { prepared.leave(stay) }

    /// The SQL it was compiled from.
    public var sql: String { prepared.sql }

    /// Whether it changes nothing in the database file.
    public var isReadOnly: Bool { prepared.isReadOnly }

    /// How many parameters it has.
    public var parameterCount: Int { prepared.parameterCount }

    /// The names of its result's columns, by the schema as it is now; none for a statement that returns no rows, or cannot run any more, and
    /// on a thread that must not use it.
    public var columnNames: [String] { (try? inTurn { prepared.currentColumnNames }) ?? [] }

    /// Runs it to its end with these values for its parameters, in order. Rows, if any, are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then.
    public func executeUpdate(_ values: (any ColumnEncodable)?...) throws {
        try executeUpdate(values: StatementValues(values))
    }

    /// Runs it to its end with these values for its parameters. Rows, if any, are passed over.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few: nothing runs then.
    public func executeUpdate(values: StatementValues) throws {
        try inTurn {
            try begin { try bind(values) }
            try runToEnd()
        }
    }

    /// Starts it with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters.
    public func executeQuery(_ values: (any ColumnEncodable)?...) throws -> ResultSet {
        try executeQuery(values: StatementValues(values))
    }

    /// Starts it with these values for its parameters; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also for a value too many or too few.
    public func executeQuery(values: StatementValues) throws -> ResultSet {
        try inTurn {
            try begin { try bind(values) }
            return makeResultSet()
        }
    }

    /// Makes it ready to run with new values; result sets of earlier executions end.
    @inline(__always) func begin(_ bind: () throws -> Void) throws {
        try prepared.begin()
        do {
            try bind()
        } catch {
            prepared.end()
            throw error
        }
    }

    @usableFromInline func step() throws -> Bool {
        do {
            return try prepared.step()
        } catch {
            throw database?.explained(error) ?? error
        }
    }
}

/// Values whose types the compiler knows: nothing is allocated for them, and they are bound without being looked at first.
extension Statement {
    /// Runs it to its end with these values for its parameters, in order. Rows, if any, are passed over.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters: nothing runs then.
    @inlinable public func executeUpdate<First: ColumnEncodable, each Rest: ColumnEncodable>(
        _ first: First,
        _ rest: repeat each Rest
    ) throws {
        try runToEnd(bind(first, repeat each rest))
    }

    /// Starts it with these values for its parameters, in order; each ``ResultSet/next()`` gives a row.
    ///
    /// - Throws: ``DatabaseError``, also when there are more or fewer values than parameters.
    @inlinable public func executeQuery<First: ColumnEncodable, each Rest: ColumnEncodable>(
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> ResultSet {
        try makeResultSet(bind(first, repeat each rest))
    }

    /// Begins a call, which who runs the statement ends, and binds the values.
    @inlinable func bind<First: ColumnEncodable, each Rest: ColumnEncodable>(
        _ first: First,
        _ rest: repeat each Rest
    ) throws -> Turn.Stay {
        var count = 1
        _ = (repeat (each Rest).count(in: &count))
        let stay = try beginBinding(count: count)
        do {
            var index = 0
            try bind(first, behind: &index)
            _ = (repeat try bind(each rest, behind: &index))
        } catch {
            abandon(stay)
            throw error
        }
        return stay
    }

    /// Binds one value to the parameter behind `index`. Expansions of packs call it: a loop over one copies each value twice.
    @inlinable @inline(__always) func bind(_ value: some ColumnEncodable, behind index: inout Int) throws {
        index += 1
        try value.bind(to: Parameter(statement: prepared, index: index))
    }

    /// Begins a call, and makes it ready to run with so many new values; result sets of earlier executions end.
    @usableFromInline func beginBinding(count: Int) throws -> Turn.Stay {
        let stay = try prepared.enter()
        do {
            try prepared.begin()
        } catch {
            prepared.leave(stay)
            throw error
        }
        guard count == parameterCount else {
            defer { abandon(stay) }
            throw wrongCount(count)
        }
        return stay
    }

    @usableFromInline func abandon(_ stay: Turn.Stay) {
        prepared.end()
        prepared.leave(stay)
    }

    /// Runs it with the values that are bound, and ends the call.
    @usableFromInline func runToEnd(_ stay: Turn.Stay = .inner) throws {
        defer { abandon(stay) }
        while try step() {}
    }

    /// Its rows with the values that are bound; ends the call.
    @usableFromInline func makeResultSet(_ stay: Turn.Stay = .inner, cached: Bool = false) -> ResultSet {
        defer { prepared.leave(stay) }
        prepared.endBinding()
        return ResultSet(self, cached: cached)
    }
}
