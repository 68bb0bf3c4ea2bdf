// For the compiler: where a task or a task group wants no result, `{ try await pool.write { try $0.insert(…) } }` would be ambiguous,
// as either closure could drop the result. `read` has no such form: with it a result set that leaves its block would be dropped in silence.

extension DatabaseWriter {
    /// As the form with a result.
    public func write(_ body: @Sendable (Database) throws -> Void) async throws {
        try await inTransaction(.immediate, body)
    }

    /// As the form with a result.
    public func inDatabase(_ body: @Sendable (Database) throws -> Void) async throws {
        _ = try await inDatabase { database in
            try body(database)
            return true
        }
    }

    /// As the form with a result.
    public func inTransaction(
        _ kind: TransactionKind = .immediate,
        _ body: @Sendable (Database) throws -> Void
    ) async throws {
        _ = try await inTransaction(kind) { database in
            try body(database)
            return true
        }
    }

    /// As the form with a result.
    public func inSavePoint(_ body: @Sendable (Database) throws -> Void) async throws {
        _ = try await inSavePoint { database in
            try body(database)
            return true
        }
    }
}
