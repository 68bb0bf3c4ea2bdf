package import SQLiteFormat

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
        let isOuter = try connection.turn.enter()
        defer { connection.turn.leave(isOuter) }
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
