/// For copies of a whole database through the engine.
extension Database {
    /// Runs `body`, and ends its statements with what `check` throws, which is called several times a second.
    package func polling<Result>(_ check: () throws -> Void, _ body: () throws -> Result) throws -> Result {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        var stop: (any Error)?
        do {
            return try usableConnection().progress.polling {
                do { try check() } catch { stop = error }
                return stop != nil
            } _: {
                try body()
            }
        } catch {
            throw stop ?? error
        }
    }

    /// Runs `sql`, which is one statement.
    package func executeOne(_ sql: String) throws {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        guard let (statement, rest) = try usableConnection().prepare(sql) else { return }
        defer { statement.finalize() }
        guard rest.allSatisfy(\.isWhitespace) else {
            throw DatabaseError(.misuse, "more than one statement, where only one is allowed", sql: sql)
        }
        _ = try statement.step()
    }

    /// Whether `sql` compiles.
    package func compiles(_ sql: String) throws -> Bool {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        guard let (statement, _) = try? readyConnection().prepare(sql) else { return false }
        statement.finalize()
        return true
    }

    /// Whether statements may write the schema's own table and shadow tables, which SQL is not allowed to say.
    package func setWritableSchema(_ isWritable: Bool) throws {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        let connection = try usableConnection()
        connection.setDefensive(!isWritable && connection.authorizer.isLockedDown)
        try connection.unrestricted {
            try connection.execute("PRAGMA writable_schema = \(isWritable ? "ON" : "OFF")")
        }
    }
}
