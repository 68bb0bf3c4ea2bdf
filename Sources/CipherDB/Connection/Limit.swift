/// A limit of SQLite for each connection; the numbers are those of sqlite.org/c3ref/c_limit_attached.html.
public enum Limit: Int32, Sendable, CaseIterable {
    /// Bytes of a string, blob or row.
    case length = 0
    /// Bytes of an SQL text.
    case sqlLength = 1
    /// Columns of a table, index, view or result.
    case columns = 2
    /// Depth of an expression.
    case expressionDepth = 3
    /// Terms of a compound SELECT.
    case compoundSelects = 4
    /// Instructions of a compiled statement.
    case instructions = 5
    /// Arguments of a function.
    case functionArguments = 6
    /// Attached databases.
    case attachedDatabases = 7
    /// Bytes of a pattern for LIKE or GLOB.
    case patternLength = 8
    /// Parameters of a statement.
    case parameters = 9
    /// Depth of triggers that set off triggers.
    case triggerDepth = 10
    /// Threads that help a statement.
    case workerThreads = 11
}

extension Database {
    /// A limit of this connection.
    ///
    /// - Throws: ``DatabaseError`` where the database is not open, ``KeyError``.
    public func limit(_ limit: Limit) throws -> Int {
        Int(try inTurn { try usableConnection().limit(limit, -1) })
    }

    /// Sets a limit of this connection, at most to what the engine was built with, and returns the one before. It stays when the file is
    /// opened again.
    ///
    /// - Throws: ``DatabaseError`` for a number below 0, and where the database is not open; ``KeyError``.
    @discardableResult public func setLimit(_ limit: Limit, to value: Int) throws -> Int {
        guard value >= 0 else { throw DatabaseError(.range, "a limit cannot be negative") }
        return try inTurn {
            let before = try usableConnection().limit(limit, Int32(clamping: value))
            limits[limit] = Int32(clamping: value)
            return Int(before)
        }
    }
}
