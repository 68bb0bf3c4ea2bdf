extension ResultSet {
    /// Hands over the rows that are left, one at a time, and closes. The row is this result set, and good until the next one.
    ///
    /// ```swift
    /// try database.executeQuery("SELECT id, text FROM notes").forEach { row in
    ///     print(try row["text"] as String)
    /// }
    /// ```
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``: an error is never taken for the end; what `body` throws, which ends it.
    public func forEach(_ body: (ResultSet) throws -> Void) throws {
        let isOuter = try enter()
        defer { leave(isOuter) }
        defer { close() }
        while try next() { try body(self) }
    }

    /// Hands over the rows that are left as values, made one at a time, and closes.
    ///
    /// - Throws: as ``next(as:)``; what `body` throws, which ends it.
    public func forEach<Value: RowDecodable>(_ type: Value.Type, _ body: (Value) throws -> Void) throws {
        let isOuter = try enter()
        defer { leave(isOuter) }
        defer { close() }
        while let value = try next(as: type) { try body(value) }
    }
}
