package import SQLiteFormat

/// For copies of a whole database through the engine.
extension Database {
    /// Runs `body`, and ends its statements with what `check` throws, which is called several times a second.
    package func polling<Result>(_ check: () throws -> Void, _ body: () throws -> Result) throws -> Result {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
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
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard let (statement, rest) = try usableConnection().prepare(sql) else { return }
        defer { statement.finalize() }
        guard rest.allSatisfy(\.isWhitespace) else {
            throw DatabaseError(.misuse, "more than one statement, where only one is allowed", sql: sql)
        }
        _ = try statement.step()
    }

    /// Whether `sql` compiles.
    package func compiles(_ sql: String) throws -> Bool {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard let (statement, _) = try? readyConnection().prepare(sql) else { return false }
        statement.finalize()
        return true
    }

    /// Whether statements may write the schema's own table and shadow tables, which SQL is not allowed to say.
    package func setWritableSchema(_ isWritable: Bool) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let connection = try usableConnection()
        connection.setDefensive(!isWritable && connection.authorizer.isLockedDown)
        try connection.unrestricted {
            try connection.execute("PRAGMA writable_schema = \(isWritable ? "ON" : "OFF")")
        }
    }
}

/// A statement that is run for rows as they stand in a file, their values bound as they are.
package final class StoredRowInsertion {
    private let connection: Connection
    private let statement: PreparedStatement
    private let encoding: TextEncoding

    /// - Parameter encoding: That of the texts.
    package init(_ insert: String, in database: Database, encoding: TextEncoding) throws {
        connection = try database.inTurn { try database.usableConnection() }
        guard let (statement, _) = try connection.prepare(insert) else {
            throw DatabaseError(.misuse, "no statement", sql: insert)
        }
        self.statement = statement
        self.encoding = encoding
    }

    deinit {
        let statement = statement
        connection.letGo { statement.finalize() }
    }

    /// Runs the statement; returns whether it changed anything.
    package func insert(_ values: [StoredValue]) throws -> Bool {
        let stay = try connection.turn.enter()
        defer { connection.turn.leave(stay) }
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
        defer { statement.reset() }
        _ = try statement.step()
        return connection.changes > 0
    }

    private func bind(_ value: StoredValue, at index: Int) throws {
        switch value {
        case .null: try statement.bindNull(at: index)
        case .integer(let number): try statement.bind(number, at: index)
        case .real(let number): try statement.bind(number, at: index)
        case .text(let bytes): try bytes.withUnsafeBytes { try statement.bind(text: $0, encoding, at: index) }
        case .blob(let bytes): try bytes.withUnsafeBytes { try statement.bind(blob: $0, at: index) }
        }
    }
}
